"""The fixed world of a script: time, randomness, numbers and names."""
