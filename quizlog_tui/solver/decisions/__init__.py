"""What was decided and why: the decision, its text, and the file that holds it."""
