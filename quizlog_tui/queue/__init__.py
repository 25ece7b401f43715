"""Work that outlives its process: a queue in a database, for one process or for many hosts."""
