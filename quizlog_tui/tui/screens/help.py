"""The help screen: the keys of a screen, made from the table of actions and the key map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from ...session.audit import Audit
from ..keys.actions import ACTIONS, Action
from ..keys.bindings import screen_bindings
from ..keys.key_names import shown_key
from ..keys.keymap import effective
from ..keys.own_commands import own_actions
from ..widgets.documents import Line, Paragraphs, line
from ..widgets.line_view import LineView
from .base import QuizlogScreen
from .guides import GuidesScreen

_TITLES = {"list": "In lists", "pane": "In text", "app": "Everywhere"}

_STEPS = (
    "Step K is the question asked after K answers: the first question "
    "at step 0. A number such as [24/40] in a question is the script's own."
)


class HelpScreen(QuizlogScreen[None]):
    """Shows the keys of one screen and what they do.

    Args:
        scope: The screen's scope in the table.
        audit: Why that screen refuses to write; None if it does not.
    """

    SCOPE = "help"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("help")

    def __init__(self, scope: str, audit: Audit | None) -> None:
        super().__init__()
        self._of = scope
        self._locked = audit

    def content(self) -> ComposeResult:
        """One pane."""
        with Vertical():
            yield LineView(id="keys")

    def on_mount(self) -> None:
        """Draw the table."""
        guides = f"{self.key('help.guides')} opens the guides"
        self.status(f"Keys of the {self._of} screen · {guides} · / finds · Escape goes back")
        pane = self.query_one(LineView)
        own = own_actions(self.app, self._of)
        pane.show(Paragraphs(help_lines(self._of, dict(self.app._keymap), own, self._locked)))
        pane.focus()

    def action_guides(self) -> None:
        """Open the guides."""
        self.app.push_screen(GuidesScreen())


def help_lines(
    scope: str, keys: dict[str, str], own: Sequence[Action] = (), audit: Audit | None = None
) -> list[Line]:
    """The table: the screen's own actions, the user's, those of its panes, then everywhere's."""
    lines = [line(_STEPS), line("")] if scope == "player" else []
    for name in dict.fromkeys((scope, "list", "pane", "app")):
        if name in ACTIONS:
            lines += [line((_TITLES.get(name, "On this screen"), "head"))]
            lines += [*_lines(ACTIONS[name], keys, audit), line("")]
        if name == scope and own:
            named = [replace(each, help=f"{each.label}: {each.help}") for each in own]
            lines += [line(("Your own commands", "head")), *_lines(named, keys, audit), line("")]
    return lines[:-1]


def _lines(actions: Sequence[Action], keys: dict[str, str], audit: Audit | None) -> Iterator[Line]:
    for action in actions:
        shown = " ".join(shown_key(key) for key in effective(action, keys))
        locked = " (locked)" if action.is_refused(audit) else ""
        yield line((f"  {shown:<16} ", "answer"), action.help, (locked, "dim"))
