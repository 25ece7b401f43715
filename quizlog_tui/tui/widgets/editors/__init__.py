"""Inputs fitted to kinds of answers. Each has `answer`, `fill`, and posts `Answered`."""
