"""The form of an episode: schema, rules, hashes, older forms."""
