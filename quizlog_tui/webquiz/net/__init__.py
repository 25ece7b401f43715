"""What leaves the machine for a task: allowed addresses, downloads, submissions."""
