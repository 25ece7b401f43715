"""The widgets, one per module. They draw what they are given and never call a session."""
