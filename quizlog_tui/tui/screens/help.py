"""The keys of a screen on one page, made from the table of actions and the user's key map."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from ...guides import guide
from ..keys.actions import ACTIONS, Action
from ..keys.bindings import screen_bindings
from ..keys.key_names import shown_key
from ..keys.keymap import effective
from ..widgets.lines.documents import Line, Paragraphs, line
from ..widgets.lines.line_view import LineView
from .base import QuizlogScreen

_TITLES = {"list": "In lists", "pane": "In text", "app": "Everywhere"}

_GUIDES = {"player": "hostile", "library": "hostile"}
"""The guide that stands below the keys of a screen."""
_STEPS = (
    "Steps count the answers: what is asked after K answers is asked at step K, the first question "
    "at step 0. A number such as [24/40] in a question is the script's own."
)


class HelpScreen(QuizlogScreen[None]):
    """Shows keys and what they do, for one screen.

    Args:
        scope: The screen's scope in the table.
    """

    SCOPE = "help"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("help")

    def __init__(self, scope: str) -> None:
        super().__init__()
        self._of = scope

    def content(self) -> ComposeResult:
        """One pane."""
        with Vertical():
            yield LineView(id="keys")

    def on_mount(self) -> None:
        """Draw the table."""
        guided = " · a guide below" if self._of in _GUIDES else ""
        self.status(f"Keys of the {self._of} screen · / finds · Escape goes back{guided}")
        pane = self.query_one(LineView)
        lines = help_lines(self._of, dict(self.app._keymap))
        guide_below = [line(""), *guide_lines(_GUIDES[self._of])] if self._of in _GUIDES else []
        pane.show(Paragraphs([*lines, *guide_below]))
        pane.focus()


def help_lines(scope: str, keys: dict[str, str]) -> list[Line]:
    """The table: the screen's own actions, then those of its panes, then everywhere's."""
    lines = [line(_STEPS), line("")] if scope == "player" else []
    for name in dict.fromkeys((scope, "list", "pane", "app")):
        if name in ACTIONS:
            lines += [line((_TITLES.get(name, "On this screen"), "head"))]
            lines += [*_lines(ACTIONS[name], keys), line("")]
    return lines[:-1]


def guide_lines(topic: str) -> list[Line]:
    """A guide: a line for each heading, paragraph and item, as wide as the screen is."""
    text = re.sub(r"(?<=\S)\n(?=[^\n#-])\s*", " ", guide(topic).rstrip())
    rows = text.splitlines()
    return [line((row.lstrip("# "), "head")) if row.startswith("#") else line(row) for row in rows]


def _lines(actions: tuple[Action, ...], keys: dict[str, str]) -> Iterator[Line]:
    for action in actions:
        shown = " ".join(shown_key(key) for key in effective(action, keys))
        yield line((f"  {shown:<16} ", "answer"), action.help)
