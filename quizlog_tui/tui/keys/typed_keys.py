"""Keys act one after the other as they were typed, and never on what was not painted yet.

Textual hands a key to the widget with the focus and lets it bubble up to the program, which then
looks for its binding: by then keys typed after it may have reached the same widget. In a burst, as
a slow line delivers them, `5 Enter 6` would send `56`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from math import inf
from time import monotonic
from typing import Any

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.widgets import Input, TextArea

_LOOK_SECONDS = 0.005
"""How often is looked whether the screen is ready that keys wait for."""


class WaitingKeys:
    """Keys and pasted texts that came before the screen or dialog they are meant for was ready.

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
        """Whether what is typed now has its turn later."""
        return bool(self._waiting) or not self._is_ready()

    def add(self, event: events.Event) -> bool:
        """Keep a key until its turn comes; whether it is the first, for which to call `act`."""
        self._waiting.append(event)
        return len(self._waiting) == 1

    async def act(self) -> None:
        """Let the keys act in their order, each as soon as it may."""
        while self._waiting:
            while not self._is_ready():
                await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self._take(self._waiting[0])
            finally:
                self._waiting.popleft()


class KeyGate:
    """Lets keys through that were typed after a screen was painted; open until it is shut."""

    def __init__(self) -> None:
        self._opened = -inf
        self._missed = False

    @property
    def is_shut(self) -> bool:
        """Whether something is yet to be painted."""
        return self._opened == inf

    def shut(self) -> None:
        """What is typed from now on is meant for what is yet to be painted."""
        self._opened, self._missed = inf, False

    def open(self) -> None:
        """It is painted."""
        self._opened, self._missed = monotonic(), False  # the clock of Textual's events

    def lets(self, event: events.Key, focused: object) -> bool:
        """Whether a key may act: in time, or only on the text of the input that has the focus.

        Once a key was stopped, all that were typed after it are, so that no half of them arrives.
        """
        if event.time < self._opened:
            self._missed = self._missed or not _edits(focused, event)
            return not self._missed
        return True


async def take_key(
    app: App[Any], event: events.Key, gate: KeyGate, always: Collection[str]
) -> None:
    """Let a key do all it does, before the next one is looked at.

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


async def take_paste(app: App[Any], event: events.Paste) -> None:
    """Let pasted text stand in the input that has the focus, before a key is looked at."""
    if isinstance(app.focused, Input | TextArea):
        await app.focused.on_event(event)


def _types(focused: object, event: events.Key) -> bool:
    """Whether the widget with the focus takes a key as text."""
    if isinstance(focused, TextArea) and event.key == "enter":
        return not focused.read_only
    if not isinstance(focused, Input | TextArea):
        return False
    return focused.check_consume_key(event.key, event.character)


def _edits(focused: object, event: events.Key) -> bool:
    """Whether a key does nothing but change the text of the input that has the focus."""
    own = next((keys for kind, keys in _EDITING.items() if isinstance(focused, kind)), ())
    return event.key in own or _types(focused, event)


def _keys(bindings: Collection[BindingType]) -> frozenset[str]:
    found = (each.key if isinstance(each, Binding) else each[0] for each in bindings)
    return frozenset(key for keys in found for key in keys.split(","))


_EDITING = {Input: _keys(Input.BINDINGS) - {"enter"}, TextArea: _keys(TextArea.BINDINGS)}
