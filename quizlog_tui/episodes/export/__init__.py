"""Episodes in the forms that trainers read."""
