"""Commands for the server and for quizzes on web pages."""
