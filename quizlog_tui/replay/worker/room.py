"""Starting a process or a thread on a machine that may have no room for one more just now.

Whoever else uses the machine may have as many processes as it takes, for a moment; shells wait for
that moment to pass, and so does this. Used on both sides of the wire; imports nothing of either.
"""

from __future__ import annotations

from time import sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds from one attempt to the next."""


def when_there_is_room(start: Callable[[], int]) -> int:
    """Start something, again and again for some seconds while the system has no room for it.

    Args:
        start: Starts a process or a thread, and returns its number.

    Raises:
        BlockingIOError: There was no room for a process in all that time.
        RuntimeError: There was none for a thread.
        OSError: It failed for another reason.
    """
    for pause in _PAUSES:
        try:
            return start()
        except (BlockingIOError, RuntimeError):
            sleep(pause)
    return start()
