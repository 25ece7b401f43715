"""Finding words in everything that one record holds, or all records of the library."""
