"""Who is asked: configured models, recorded replies, programs, a person."""
