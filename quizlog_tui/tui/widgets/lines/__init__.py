"""Panes of many lines: documents, how they are drawn, searched and filtered."""
