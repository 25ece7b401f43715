"""The guided first run: what to try next, and how one knows that it was done. No widgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scene:
    """What the guide sees of the screens."""

    answers: int
    """Answers on the active branch."""
    status: str
    """How the run stands where one looks."""
    step: int
    """The step one looks at."""
    pointer: int
    """The record's pointer."""
    branches: int
    """How many branches there are."""
    screen: str
    """The scope of the screen on top; empty for a dialog."""


@dataclass(frozen=True)
class Lesson:
    """One thing to try."""

    text: str
    done: Callable[[Scene], bool]


LESSONS = (
    Lesson(
        "The script stopped inside a question. Type the right answer and press Enter.",
        lambda seen: seen.pointer >= 1 and seen.status == "in_progress",
    ),
    Lesson(
        "Now answer the next one wrongly, such as 1000.",
        lambda seen: seen.status == "error",
    ),
    Lesson(
        "The error has its line, its score and the source around it. Try again: the right answer.",
        lambda seen: seen.pointer >= 2 and seen.status == "in_progress",
    ),
    Lesson(
        "Escape leaves the input for the keys. Then h looks a step back. Looking changes nothing.",
        lambda seen: seen.step < seen.pointer,
    ),
    Lesson("l looks forward again, $ goes to the end.", lambda seen: seen.step == seen.pointer),
    Lesson(
        "Nothing is ever lost: your wrong answer is a branch. b shows the branches.",
        lambda seen: seen.screen not in ("player", ""),
    ),
    Lesson("Escape comes back.", lambda seen: seen.screen == "player"),
    Lesson(
        "Fork: go back with h, press f, and give another answer there.",
        lambda seen: seen.branches >= 3,
    ),
    Lesson(
        "c compares this branch with another, side by side. Choose main.",
        lambda seen: seen.screen not in ("player", ""),
    ),
    Lesson("Escape comes back.", lambda seen: seen.screen == "player"),
    Lesson(
        "? shows all keys, ctrl+p finds any command by name. Try ?.",
        lambda seen: seen.screen not in ("player", ""),
    ),
    Lesson(
        "That is all. Go on playing, or leave with q; `quizlog new SCRIPT` makes your own.",
        lambda seen: False,
    ),
)
"""The lessons, in order; the last one stays."""
