"""Runs of a script by independent solvers: those in records, and those requested."""
