"""Watches what a running script starts, opens, and runs as code."""
