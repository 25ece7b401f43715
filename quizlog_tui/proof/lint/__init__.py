"""What can be told of a quiz script without running it: questions, endings, traps."""
