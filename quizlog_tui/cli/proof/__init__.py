"""Commands that judge: verify, diff, drift, lint, coverage, bundle."""
