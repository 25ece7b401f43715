"""One page: rendered, read, and what it refers to."""
