"""The guided first run: what to try next, and how one knows that it was done. No widgets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .keys.keymap import KeyOf


@dataclass(frozen=True)
class LessonScene:
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
    """What to do; ids of actions in braces stand for their keys."""
    done: Callable[[LessonScene], bool]


class Tour:
    """The guided first run: which lesson one is at, on whatever screen.

    Args:
        scene: Tells how the screens stand; None where no record is open.
    """

    def __init__(self, scene: Callable[[], LessonScene | None]) -> None:
        self._scene = scene
        self.lesson = 0

    def look(self) -> None:
        """On to the next lesson, if this one is done."""
        scene = self._scene()
        if scene is not None and LESSONS[self.lesson].done(scene):
            self.lesson += 1

    def text(self, key: KeyOf) -> str:
        """What to try now, with the keys as the user has them."""
        return f"☞ {self.lesson + 1}/{len(LESSONS)}  {describe_lesson(LESSONS[self.lesson], key)}"


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
        "Escape leaves the input for the keys. Then {player.back} looks a step back. "
        "Looking changes nothing.",
        lambda seen: seen.step < seen.pointer,
    ),
    Lesson(
        "{player.forward} looks forward again, {player.last} goes to the end.",
        lambda seen: seen.step == seen.pointer,
    ),
    Lesson(
        "Nothing is ever lost: your wrong answer is a branch. {player.tree} shows the branches.",
        lambda seen: seen.screen not in ("player", ""),
    ),
    Lesson("Escape comes back.", lambda seen: seen.screen == "player"),
    Lesson(
        "Fork: go back with {player.back}, press {player.fork}, and give another answer there.",
        lambda seen: seen.branches >= 3,
    ),
    Lesson(
        "{player.compare} compares this branch with another, side by side. Choose main.",
        lambda seen: seen.screen not in ("player", ""),
    ),
    Lesson("Escape comes back.", lambda seen: seen.screen == "player"),
    Lesson(
        "{app.help} shows all keys, {app.palette} finds any command by name. Try {app.help}.",
        lambda seen: seen.screen not in ("player", ""),
    ),
    Lesson(
        "That is all. Go on playing, or leave with {player.library}; "
        "`quizlog new SCRIPT` makes your own.",
        lambda seen: False,
    ),
)
"""The lessons, in order; the last one stays."""


def describe_lesson(lesson: Lesson, key: KeyOf) -> str:
    """What a lesson says, with the keys as the user has them."""
    return re.sub(r"\{([a-z_.]+)\}", lambda found: key(found[1]), lesson.text)
