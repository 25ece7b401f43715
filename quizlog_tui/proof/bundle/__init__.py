"""Evidence in one file: a record with all that it takes to run it again, elsewhere and offline."""
