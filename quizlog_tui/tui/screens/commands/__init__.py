"""The user's own commands, as screens run them."""
