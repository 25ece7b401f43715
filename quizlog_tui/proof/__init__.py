"""What judges a run: verify, compare, drift, bundle, lint, coverage."""
