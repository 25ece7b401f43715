"""Exports a whole record with all its branches as a document in HTML or Markdown."""
