"""A record as text: YAML and JSON, read and written, and what it may say."""
