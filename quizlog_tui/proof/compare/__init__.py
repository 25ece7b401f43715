"""Two runs held against each other, step by step."""
