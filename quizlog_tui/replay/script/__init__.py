"""Reads the text of a script: tags, kinds of answers, needed files, requested grants."""
