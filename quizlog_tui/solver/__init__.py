"""Several models, one decision: ask, run their code, vote, and keep why the answer won."""
