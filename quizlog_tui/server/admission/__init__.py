"""Who may ask the server, how much at once, and how long."""
