"""Judges runs and scripts: verify, compare, drift, bundle, lint, coverage."""
