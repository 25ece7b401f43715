"""Drift: where a record and its edited script no longer agree, and how to continue."""
