"""Quizzes on web pages: fetches, solves, submits and follows them; and a server for practice."""
