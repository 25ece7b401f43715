"""Colours and signs."""
