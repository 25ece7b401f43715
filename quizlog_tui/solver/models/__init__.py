"""The voters: configured models, recorded replies, local programs, a person."""
