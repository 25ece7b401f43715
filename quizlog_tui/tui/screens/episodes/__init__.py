"""The episodes of a file."""
