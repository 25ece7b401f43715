"""The player: one record, audited step by step."""
