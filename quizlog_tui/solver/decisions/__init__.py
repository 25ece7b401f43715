"""Decisions: their data, their JSON, and the file that stores them."""
