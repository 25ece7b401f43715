"""Where a record and its script no longer agree, and what is kept of it then."""
