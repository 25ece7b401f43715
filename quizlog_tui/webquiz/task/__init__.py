"""A task from its first page to its end: its state, its record, its folder."""
