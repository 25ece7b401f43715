"""An open record and its moves: the one way in for every front end."""
