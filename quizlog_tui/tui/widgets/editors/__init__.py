"""Inputs for kinds of answers: each has `fit`, `fill`, `begin`, and posts `Answered`."""
