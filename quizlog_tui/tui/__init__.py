"""The terminal's door: screens that draw a session and call it; all that knows Textual."""
