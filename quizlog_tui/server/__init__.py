"""The HTTP server: quizlog for programs, by default those of the same machine only.

It decides what may be requested, of which files and by whom. The session moves records, and the
solver comes to decisions. Only this package imports FastAPI and uvicorn.
"""
