"""Episodes as lines."""
