"""Attacks on the sandbox, as data: each is really run, and a guarantee is checked."""
