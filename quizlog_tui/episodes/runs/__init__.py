"""Runs of a script by independent solvers: those that are there, and those asked for."""
