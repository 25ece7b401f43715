"""The full-screen program: screens that show and call a session. Only it imports Textual."""
