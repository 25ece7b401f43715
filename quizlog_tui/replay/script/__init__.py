"""What the text of a script says: tags, questions, files it needs, what it asks to be real."""
