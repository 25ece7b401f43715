"""The whole record as a document for people: every branch, as HTML or Markdown."""
