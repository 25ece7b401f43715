"""What a trace is: the record's model, its text, its durable store and its branches."""
