"""Inputs fitted to kinds of answers: each has `fit`, `fill`, `begin`, and posts `Answered`."""
