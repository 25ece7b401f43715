"""How a script runs: source and tags, the quiz process, the transcript, and `replay` itself."""
