"""A record as text: reading, checking and writing YAML and JSON."""
