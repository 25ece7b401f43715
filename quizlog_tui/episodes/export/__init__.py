"""Exports episodes in the formats that trainers read."""
