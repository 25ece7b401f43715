"""The format of an episode: schema, rules, hashes."""
