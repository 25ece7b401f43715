"""The fixed world: what a script finds of time, chance, numbers and names."""
