"""Counts votes: which answers are equal, and which one wins."""
