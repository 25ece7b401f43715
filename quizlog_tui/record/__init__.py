"""The record of a trace: its model, its text, its durable file and its branches."""
