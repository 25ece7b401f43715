"""The lessons of the guided tour, and how each one is recognised as done. Uses no widgets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .keys.keymap import KeyOf


@dataclass(frozen=True)
class LessonScene:
    """The state of the screens as the tour sees it."""

    answers: int
    """Answers on the active branch."""
    status: str
    """Status of the run at the step shown."""
    step: int
    """The step shown."""
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
    """The guided tour with its current lesson.

    Args:
        scene: Returns the state of the screens; None if no record is open.
    """

    def __init__(self, scene: Callable[[], LessonScene | None]) -> None:
        self._scene = scene
        self.lesson = 0

    def look(self) -> None:
        """Go on to the next lesson if this one is done."""
        scene = self._scene()
        if scene is not None and LESSONS[self.lesson].done(scene):
            self.lesson += 1

    def text(self, key: KeyOf) -> str:
        """The text of the current lesson with the user's keys."""
        return f"☞ {self.lesson + 1}/{len(LESSONS)}  {describe_lesson(LESSONS[self.lesson], key)}"


LESSONS = (
    Lesson(
        "The script stopped inside a question. Type the right answer and press Enter.",
        lambda seen: seen.pointer >= 1 and seen.status == "in_progress",
    ),
    Lesson(
        "Now give a wrong answer, such as 1000.",
        lambda seen: seen.status == "error",
    ),
    Lesson(
        "You see the error with its line, its score and the source. Now give the right answer.",
        lambda seen: seen.pointer >= 2 and seen.status == "in_progress",
    ),
    Lesson(
        "Press Escape to leave the input. Then press {player.back} to see the previous step. "
        "Looking changes nothing.",
        lambda seen: seen.step < seen.pointer,
    ),
    Lesson(
        "{player.forward} shows the next step, {player.last} goes to the end.",
        lambda seen: seen.step == seen.pointer,
    ),
    Lesson(
        "No answer is lost: your wrong answer is a branch. {player.tree} shows the branches.",
        lambda seen: seen.screen not in ("player", ""),
    ),
    Lesson("Press Escape to go back.", lambda seen: seen.screen == "player"),
    Lesson(
        "Fork: go back with {player.back}, press {player.fork}, and give another answer there.",
        lambda seen: seen.branches >= 3,
    ),
    Lesson(
        "{player.compare} compares this branch with another, side by side. Choose main.",
        lambda seen: seen.screen not in ("player", ""),
    ),
    Lesson("Press Escape to go back.", lambda seen: seen.screen == "player"),
    Lesson(
        "{app.help} shows all keys, {app.palette} finds any command by name. Try {app.help}.",
        lambda seen: seen.screen not in ("player", ""),
    ),
    Lesson(
        "That is all. Keep playing, or leave with {player.library}; "
        "`quizlog new SCRIPT` makes your own.",
        lambda seen: False,
    ),
)
"""The lessons, in order; the last one stays."""


def describe_lesson(lesson: Lesson, key: KeyOf) -> str:
    """The text of a lesson with the user's keys."""
    return re.sub(r"\{([a-z_.]+)\}", lambda found: key(found[1]), lesson.text)
