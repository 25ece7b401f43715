"""Reading, checking and counting files of episodes."""
