"""Campaigns of attacks on the sandbox and by quizzes: `python -m tests.attacks` runs and judges all."""
