"""Reads, checks, counts and splits files of episodes."""
