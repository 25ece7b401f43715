"""Attacks by quizzes: hostile scripts and answers, run like a user's."""
