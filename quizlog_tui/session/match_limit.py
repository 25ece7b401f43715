"""A limit on the time that a regular expression may take with one text.

Some expressions take longer than anybody lives. Python's matcher cannot be stopped from another
thread and lets none run meanwhile, but it hears a timer's signal in the main one.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from ..errors import LimitError

_SECONDS = 1.0


@contextmanager
def match_limit(*, on: bool, seconds: float = _SECONDS) -> Iterator[None]:
    """Raise a `LimitError` in what takes longer; where there is no such timer, nothing is done.

    Args:
        on: Whether there is a limit at all.
        seconds: The limit.
    """
    main = threading.current_thread() is threading.main_thread()
    if not (on and main and hasattr(signal, "setitimer")):
        yield
        return
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _stop(*_: object) -> NoReturn:
    raise LimitError("this expression takes too long", hint="make it simpler")
