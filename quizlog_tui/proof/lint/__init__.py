"""Lint: the questions, endings and traps of a quiz script, found without running it."""
