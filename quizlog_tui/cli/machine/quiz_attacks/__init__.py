"""Attacks by quizzes, as data: hostile scripts and answers, each run for real as a user would."""
