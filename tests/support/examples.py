"""What the shipped examples come to."""

from __future__ import annotations

WON = {
    "adventure": ["no"],
    "arithmetic": ["21", "22", "55", "80", "90"],
    "linear-algebra": ["yes", "16", "definite", "[[2, 0], [3, 2]]"],
    "survey": ["3", "Hill", "90.3", "the rest of the year"],
}


FAILED = {
    "adventure": ("yes", 0.9),
    "arithmetic": ("-999", 0.2),
    "linear-algebra": ("no", 0.0),
    "survey": ("7", 0.0),
}
