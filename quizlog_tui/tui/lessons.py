"""The lessons of the guided tour, and how each one is recognised as done. Uses no widgets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .keys.keymap import KeyOf


@dataclass(frozen=True)
class LessonScene:
    """The state of the screens as the tour sees it."""

    status: str
    """Status of the run at the pointer."""
    step: int
    pointer: int
    branches: int
    screen: str
    """The scope of the screen on top; empty for a dialog."""


@dataclass(frozen=True)
class _Lesson:
    """One thing to try."""

    text: str
    """What to do; ids of actions in braces stand for their keys."""
    done: Callable[[LessonScene, LessonScene], bool]
    """Whether it is done: the screens now, and as they were when the lesson began."""
    finished: str = ""
    """What to do where the script asks nothing more; empty if that makes no difference."""
    unseen: str = ""
    """What to do where no error is on the screen; empty if that makes no difference."""

    def said(self, scene: LessonScene | None) -> str:
        """What to do, as the screens are; None for no record."""
        if scene is None:
            return self.text
        if self.finished and scene.status == "success":
            return self.finished
        sees_error = scene.status == "error" and scene.step == scene.pointer
        return self.text if sees_error else self.unseen or self.text


class Tour:
    """The guided tour with its current lesson; `scene` returns None if no record is open."""

    def __init__(self, scene: Callable[[], LessonScene | None]) -> None:
        self._scene = scene
        self._began: LessonScene | None = None
        self.lesson = 0

    def look(self) -> None:
        """Go on to the next lesson if this one is done."""
        scene = self._scene()
        if scene is None:
            return
        if self._began is None:
            self._began = scene
        if LESSONS[self.lesson].done(scene, self._began):
            self.lesson, self._began = self.lesson + 1, scene

    def text(self, key: KeyOf) -> str:
        """The text of the current lesson with the user's keys."""
        text = LESSONS[self.lesson].said(self._scene())
        return f"☞ {self.lesson + 1}/{len(LESSONS)}  {with_keys(text, key)}"


def _shows(screen: str) -> Callable[[LessonScene, LessonScene], bool]:
    return lambda seen, began: seen.screen == screen


def _answered_again(seen: LessonScene, began: LessonScene) -> bool:
    """Whether the screens are as far as they were, or on a fork that has answers."""
    return seen.pointer >= (1 if seen.branches > began.branches else began.pointer)


LESSONS = (
    _Lesson(
        "The script stopped inside a question. Type the right answer and press Enter.",
        lambda seen, began: seen.pointer >= 1 and seen.status != "error",
    ),
    _Lesson(
        "Now give a wrong answer, such as 1000.",
        lambda seen, began: seen.status == "error",
        "The script is finished. Press {player.back}, then {player.rewind}, to be asked again; "
        "then give a wrong answer, such as 1000.",
    ),
    _Lesson(
        "You see the error with its line, its score and the source. Now give the right answer.",
        lambda seen, began: seen.status != "error" and _answered_again(seen, began),
        unseen="Now give the right answer: {player.last} goes to the question.",
    ),
    _Lesson(
        "Press Escape to leave the input. Then press {player.back} to see the previous step. "
        "Looking changes nothing.",
        lambda seen, began: seen.step < seen.pointer,
    ),
    _Lesson(
        "{player.forward} shows the next step, {player.last} goes to the end.",
        lambda seen, began: seen.step == seen.pointer,
    ),
    _Lesson(
        "No answer is lost: your wrong answer is a branch. {player.tree} shows the branches.",
        _shows("tree"),
    ),
    _Lesson("Press Escape to go back.", _shows("player")),
    _Lesson(
        "Fork: go back with {player.back}, press {player.fork}, and give another answer there.",
        lambda seen, began: seen.branches > began.branches,
    ),
    _Lesson(
        "{player.compare} compares this branch with another, side by side. Choose one.",
        _shows("compare"),
    ),
    _Lesson("Press Escape to go back.", _shows("player")),
    _Lesson(
        "{app.help} shows all keys, {app.palette} finds any command by name. Try {app.help}.",
        _shows("help"),
    ),
    _Lesson(
        "That is all. Keep playing, or leave with {player.library}; "
        "`quizlog new SCRIPT` makes your own.",
        lambda seen, began: False,
    ),
)
"""The lessons, in order; the last one stays."""


def with_keys(text: str, key: KeyOf) -> str:
    """A lesson's text with the user's keys."""
    return re.sub(r"\{([a-z_.]+)\}", lambda found: key(found[1]), text)
