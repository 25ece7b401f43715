"""Live runs and frozen copies that are kept, so that a replay need not start anew."""
