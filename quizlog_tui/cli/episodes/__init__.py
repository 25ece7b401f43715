"""Commands for training data."""
