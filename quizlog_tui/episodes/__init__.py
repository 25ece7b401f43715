"""Training data: episodes with a justified `verified: true`, and their exports for trainers."""
