"""Limits of access to the server: who may send requests, how many at once, and how slowly."""
