"""Quizzes on web pages: fetch, solve, submit, follow; and a faithful server to practise on."""
