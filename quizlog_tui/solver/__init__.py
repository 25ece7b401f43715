"""Asks several models one question, runs their code, and lets a vote make a decision."""
