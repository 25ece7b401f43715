"""The door for programs on the network: quizlog over HTTP, for one machine's own clients.

Only this part knows FastAPI and uvicorn. How a record moves is the session's business, how models
come to a decision the solver's; here is what may be asked, of which files, and by whom.
"""
