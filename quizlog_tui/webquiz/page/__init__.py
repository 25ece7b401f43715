"""Renders and reads a page, and fetches what it refers to."""
