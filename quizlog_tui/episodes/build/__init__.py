"""Builds episodes from runs and stores them in a file."""
