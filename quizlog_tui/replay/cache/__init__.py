"""The cache of live runs and checkpoints, which saves a replay from starting anew."""
