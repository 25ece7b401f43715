"""Attacks on the sandbox, as data: each is run for real and its guarantee checked."""
