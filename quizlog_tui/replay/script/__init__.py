"""Reads the text of a script: tags, kinds of answers, needed files, requested grants."""

NAMES = ("real-clock", "real-environment", "real-files", "real-network")
"""What a script can request, and a user grant."""
