"""Works a task from its first page to its end, with its state, record and folder."""
