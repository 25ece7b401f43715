"""What the shipped examples come to."""

from __future__ import annotations

import shutil
from pathlib import Path

from quizlog_tui.files.paths import decisions_path, shipped
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.new_record import new_record

WON = {
    "adventure": ["north", "take", "south", "down", "open", "a map", "no"],
    "arithmetic": ["21", "22", "55", "80", "90"],
    "linear-algebra": ["yes", "16", "definite", "[[2, 0], [3, 2]]"],
    "survey": ["3", "Hill", "90.3", "the rest of the year"],
}
"""The answers to all questions of an example."""


FAILED = {
    "adventure": ("down", 0.2),
    "arithmetic": ("-999", 0.2),
    "linear-algebra": ("no", 0.0),
    "survey": ("7", 0.0),
}
"""A wrong answer to the first question of an example, and its score."""


def fresh_example(name: str, folder: Path) -> Path:
    """A copy of a shipped example whose record starts at its first question."""
    path = shutil.copytree(shipped("records") / name, folder / name) / "record.yaml"
    seed = RecordFile(path).read().seed
    path.unlink()
    decisions_path(path).unlink(missing_ok=True)
    new_record(path.with_name("quiz.py"), path, seed)
    return path
