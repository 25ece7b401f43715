"""How votes are counted: which answers are equal, and which one wins."""
