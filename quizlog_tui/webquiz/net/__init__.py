"""The network access of a task: allowed addresses, downloads, submissions."""
