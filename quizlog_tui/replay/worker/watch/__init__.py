"""What is watched while a script runs: what it starts, opens, and runs as code."""
