"""Lets event loops go on at once: none waits for the clock, and none reads an answer unasked.

Descriptor 0 always seems ready, as whoever reads it stops at a question until there is an answer.
A loop that reads ahead would ask what the script does not. So it hears of that descriptor only if
its reader is waited for, or, where that cannot be known, if there is nothing else to be done.
"""

from __future__ import annotations

import gc
import sys

from ..standard_input import gives_answers
from .clock import VirtualClock, worth_waiting
from .onimport import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BUSY = 1000
"""Number of turns in which a loop finds nothing to do but does not wait: it asks for answers."""


def install(clock: VirtualClock | None) -> None:
    """Change how event loops wait.

    Args:
        clock: The virtual clock, if there is one.
    """
    after_import({"select": _fix_polls, "selectors": lambda module: _fix_selectors(module, clock)})


def _fix_polls(module: Any) -> None:
    """Let descriptor 0 be one with data, not only one whose other end is closed."""
    kinds = [type(module.poll()), getattr(module, "epoll", None)]
    for kind in filter(None, kinds):
        members: Any = gc.get_referents(vars(kind))[0]
        members["poll"] = _telling_of_data(members["poll"], module.POLLIN, module.POLLHUP)
    getattr(sys, "_clear_internal_caches", sys._clear_type_cache)()


def _telling_of_data(plain: Any, data: int, closed: int) -> Any:
    def poll(self: Any, *args: Any, **options: Any) -> Any:
        return [
            (fd, data | closed if event == closed and gives_answers(fd) else event)
            for fd, event in plain(self, *args, **options)
        ]

    poll.__qualname__ = plain.__qualname__
    return poll


def _fix_selectors(module: Any, clock: VirtualClock | None) -> None:
    kinds = (module.BaseSelector, *_below(module.BaseSelector))
    for kind in {kind for kind in kinds if "select" in vars(kind)} - {module.BaseSelector}:
        kind.select = _patient(kind.select, clock)


def _below(kind: type) -> list[type]:
    children: list[type] = kind.__subclasses__()
    return [one for child in children for one in (child, *_below(child))]


def _patient(plain: Any, clock: VirtualClock | None) -> Any:
    frame, idle = sys._getframe, 0

    def timed(self: Any, timeout: float | None) -> Any:
        if clock is None or not timeout or timeout < 0:
            return plain(self, timeout)
        # First whether anybody may still do something, then whether somebody did.
        events = plain(self, timeout if worth_waiting() else 0)
        if not events:
            clock.advance(timeout)
        return events

    def select(self: Any, timeout: float | None = None) -> Any:
        nonlocal idle
        if not frame(1).f_globals.get("__name__", "").startswith("asyncio."):
            return plain(self, timeout)
        key: Any = getattr(self, "_fd_to_key", {}).get(0)
        wanted = key is None or not gives_answers(0) or _is_waited_for(key.data)
        if wanted:
            return timed(self, timeout)
        events = plain(self, 0)
        others = [event for event in events if event[0] is not key]
        idle = 0 if others else idle + 1
        if others or (timeout == 0 and idle < _BUSY):
            return others
        if wanted is None:
            return events
        self.unregister(0)
        try:
            return timed(self, timeout)
        finally:
            self.register(0, key.events, key.data)

    return select


def _is_waited_for(data: Any) -> bool | None:
    """Whether what reads a descriptor is waited for; None if only its own code could tell."""
    reading = getattr(data[0], "_callback", None)
    protocol: Any = getattr(getattr(reading, "__self__", None), "_protocol", None)
    if not hasattr(protocol, "_stream_reader"):
        return None
    reader = protocol._stream_reader
    return reader is not None and reader._waiter is not None
