"""The lowest rows of a screen: the important keys, messages in their place, and the tour's lesson.

The keys are one line of text, redrawn when they change; a click acts like the key. Textual's own
footer creates a widget for each key, and creates all of them again whenever the focus moves.
Messages push the panes up where they need more than one row, and so cover nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.notifications import Notification
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from ..keys.keymap import shown, shown_key
from ..lessons import Tour

_ALWAYS = ("app.help", "leave")
"""Actions that stay when there is no room for all keys: a lost user looks for them."""
_SIGNS = {"information": "", "warning": "! ", "error": "✗ "}
_STYLES = {"information": "", "warning": "$text-warning", "error": "$text-error"}
_LOOK_SECONDS = 0.2


class KeyLine(Widget):
    """The bindings that the footer shows; those with an empty `label` are left out."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--label"}
    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyLine {
        dock: bottom; height: 1; text-wrap: nowrap; text-overflow: ellipsis;
        color: $footer-foreground; background: $footer-background;
        & > .key-line--key {
            color: $footer-key-foreground; background: $footer-key-background; text-style: bold;
        }
        & > .key-line--label {
            color: $footer-description-foreground; background: $footer-description-background;
        }
    }
    """

    def __init__(self, label: Callable[[Binding], str]) -> None:
        super().__init__()
        self._label = label
        self._shown: list[tuple[Binding, str]] = []

    def on_mount(self) -> None:
        """Draw now, and whenever the active bindings change."""
        self.screen.bindings_updated_signal.subscribe(self, self._take)
        self._take(self.screen)

    def _take(self, screen: Screen[Any]) -> None:
        wanted: dict[str, Binding] = {}
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.show and not self._typed(binding.key) and (label := self._label(binding)):
                # the first of each action's keys that is not typed as text
                wanted.setdefault(binding.action, replace(binding, description=label))
        shown = [(each, shown_key(each.key)) for each in wanted.values()]
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def _typed(self, key: str) -> bool:
        """Whether the focused widget takes a key as text."""
        sign, focused = shown_key(key), self.screen.focused
        return len(sign) == 1 and focused is not None and focused.check_consume_key(key, sign)

    def _in_sight(self) -> list[tuple[Binding, str]]:
        """The keys that fit: the last ones are dropped first, except those to leave."""
        found = list(self._shown)
        spare = [each for each in found if each[0].action not in _ALWAYS]
        while spare and sum(map(_width, found)) > self.size.width:
            found.remove(spare.pop())
        return found

    def render(self) -> Content:
        """The line."""
        key, label = map(self.get_visual_style, ("key-line--key", "key-line--label"))
        parts = [
            Content.assemble((shown, key), (f" {binding.description} ", label))
            for binding, shown in self._in_sight()
        ]
        return Content("").join(parts)

    def on_click(self, event: events.Click) -> None:
        """Act as if the key was pressed."""
        end = 0
        for binding, key in self._in_sight():
            end += _width((binding, key))
            if event.x < end:
                self.app.simulate_key(binding.key)
                return


def _width(part: tuple[Binding, str]) -> int:
    return cell_len(f"{part[1]} {part[0].description} ")


class MessageLine(Static):
    """The messages that are current, the newest first."""

    ALLOW_SELECT: ClassVar[bool] = False
    DEFAULT_CSS = """
    MessageLine {
        dock: bottom; display: none; height: auto; max-height: 6; padding: 0 1; background: $panel;
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._expiry: Timer | None = None

    def on_mount(self) -> None:
        """Show what was said before the screen was there."""
        self.renew()

    def renew(self) -> None:
        """Show the program's current messages, and the keys again if there are none."""
        hidden = self.app._disable_notifications
        notes = [] if hidden else list(self.app._notifications)[::-1]
        if not notes and not self.display:  # as at most keys: to update lays out the whole screen
            return
        self.display = bool(notes)
        self.screen.query_one(KeyLine).display = not notes
        self.update(Content("\n").join(map(describe_message, notes)))
        self._renew_when_one_expires(notes)

    def _renew_when_one_expires(self, notes: list[Notification]) -> None:
        if self._expiry is not None:
            self._expiry.stop()
        passing = [note.time_left for note in notes if note.severity == "information"]
        self._expiry = self.set_timer(max(0.01, min(passing)), self.renew) if passing else None


def describe_message(note: Notification) -> Content:
    """A message; a sign before it says how serious it is."""
    return Content.assemble((_SIGNS[note.severity] + note.message, _STYLES[note.severity]))


class Guide(Static):
    """Shows a lesson until it is done, then the next; all screens share the tour."""

    DEFAULT_CSS = """
    Guide { height: auto; padding: 0 1; background: $primary 25%; color: $foreground; }
    """

    def __init__(self, tour: Tour) -> None:
        super().__init__(markup=False)
        self._tour = tour
        self._told = ""

    @property
    def lesson(self) -> int:
        """Index of the lesson that is shown."""
        return self._tour.lesson

    def on_mount(self) -> None:
        """Start checking the lesson regularly."""
        self.look()
        self.set_interval(_LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Draw the current lesson if it has changed."""
        self._tour.look()
        said = self._tour.text(lambda name: shown(name, self.app._keymap))
        if said != self._told:
            self._told = said
            self.update(said)
