"""The library: all records below a folder."""
