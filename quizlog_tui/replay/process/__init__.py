"""One quiz process: how it is started, what it is told, and what it tells."""
