"""The record of a trace: its model, its text, its durable file and its branches."""

WAIT_SECONDS = 2.0
"""Seconds to wait for another holder of a record by default."""
