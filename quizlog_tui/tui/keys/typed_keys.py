"""Processes keys one after the other, and never on a screen that is not painted yet.

Textual passes a key to the focused widget and lets it bubble up to the app, which then looks for
its binding. By then later keys may have reached the same widget. In a burst, as over a slow
connection, `5 Enter 6` would send `56`. Pasted text goes into the field with the focus, once.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from math import inf
from time import monotonic
from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.widgets import Input, TextArea

from ...text import visible
from ..toasts import warn
from ..widgets.text_fields import LineField

_LOOK_SECONDS = 0.005
"""Seconds between two checks whether the screen is ready for waiting keys."""


class WaitingKeys:
    """Keys and pasted texts that arrived before their screen or dialog was ready.

    Args:
        is_ready: Whether keys may act.
        take: Lets one act.
    """

    def __init__(
        self, is_ready: Callable[[], bool], take: Callable[[events.Event], Awaitable[None]]
    ) -> None:
        self._is_ready = is_ready
        self._take = take
        self._waiting: deque[events.Event] = deque()

    def must_wait(self) -> bool:
        """Whether keys typed now must wait."""
        return bool(self._waiting) or not self._is_ready()

    def add(self, event: events.Event) -> bool:
        """Queue a key. Returns whether it is the first, in which case `act` must be called."""
        self._waiting.append(event)
        return len(self._waiting) == 1

    async def act(self) -> None:
        """Process the queued keys in order, each as soon as it may act."""
        while self._waiting:
            while not self._is_ready():
                await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self._take(self._waiting[0])
            finally:
                self._waiting.popleft()


class KeyGate:
    """Lets only keys pass that were typed after a screen was painted. Initially open."""

    def __init__(self) -> None:
        self._opened = -inf
        self._missed = False

    def shut(self) -> None:
        """Close the gate: keys typed from now on are meant for the next paint."""
        self._opened, self._missed = inf, False

    def open(self) -> None:
        """Open the gate: the screen is painted."""
        self._opened, self._missed = monotonic(), False  # the clock of Textual's events

    def lets(self, event: events.Key, focused: object) -> bool:
        """Whether a key may act: it was typed after the paint, or only edits the focused input.

        After a stopped key, all later keys are stopped too, so that no partial input arrives.
        """
        if event.time < self._opened:
            self._missed = self._missed or not _edits(focused, event)
            return not self._missed
        return True


async def take_key(
    app: App[Any], event: events.Key, gate: KeyGate, always: Collection[str]
) -> None:
    """Process a key completely before the next one.

    Args:
        app: The program.
        event: The key.
        gate: Of the screen on top.
        always: Keys that no gate stops.
    """
    focused = app.focused
    if event.key not in always and not gate.lets(event, focused):
        return
    if await app._check_bindings(event.key, priority=True):
        return
    if focused is not None and _types(focused, event):
        await focused.on_event(event)
    else:
        await app._check_bindings(event.key)


def _types(focused: object, event: events.Key) -> bool:
    """Whether the focused widget inserts a key as text."""
    if isinstance(focused, TextArea) and event.key == "enter":
        return not focused.read_only
    if not isinstance(focused, Input | TextArea):
        return False
    return focused.check_consume_key(event.key, event.character)


def _edits(focused: object, event: events.Key) -> bool:
    """Whether a key only edits the text of the focused input."""
    own = next((keys for kind, keys in _EDITING.items() if isinstance(focused, kind)), ())
    return event.key in own or _types(focused, event)


def _keys(bindings: Collection[BindingType]) -> frozenset[str]:
    found = (each.key if isinstance(each, Binding) else each[0] for each in bindings)
    return frozenset(key for keys in found for key in keys.split(","))


_EDITING = {Input: _keys(Input.BINDINGS) - {"enter"}, TextArea: _keys(TextArea.BINDINGS)}


@runtime_checkable
class _TakesLines(Protocol):
    """What takes several lines that were pasted into one of its fields."""

    async def take_lines(self, lines: str) -> None:
        """Take the lines."""


async def take_paste(app: App[Any], event: events.Paste) -> None:
    """Insert pasted text into the field with the focus before the next key is processed."""
    text = re.sub("\r\n?", "\n", event.text)  # terminals send \r for the end of a line
    focused = app.focused
    if isinstance(focused, TextArea):
        event = events.Paste(text)
        event.stop()  # it would come here again
        await focused.on_event(event)
    elif isinstance(focused, Input):
        await _paste_into_line(app, focused, text)
    elif text:
        warn(app, "nothing here takes the pasted text; go to a field first")


async def _paste_into_line(app: App[Any], field: Input, text: str) -> None:
    """Insert text into a line; several lines go where they can, or it is told what is left out."""
    first, *more = text.removesuffix("\n").split("\n")
    taker = next((node for node in field.ancestors if isinstance(node, _TakesLines)), None)
    if more and taker is not None:
        await taker.take_lines(text)
        return
    if more:
        warn(app, f"only the first of {len(more) + 1} pasted lines is put in: this is one line")
    start, end = sorted(field.selection)
    field.replace(first if isinstance(field, LineField) else visible(first), start, end)
