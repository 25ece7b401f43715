"""Training data: episodes whose `verified: true` is literally true, and what trainers read."""
