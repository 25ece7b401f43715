"""Reads, checks, counts, splits and upgrades files of episodes."""
