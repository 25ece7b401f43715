"""From runs to episodes in a file."""
