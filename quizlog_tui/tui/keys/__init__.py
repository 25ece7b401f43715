"""What a person can do, and by which keys."""
