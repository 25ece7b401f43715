"""Runs a screen's slow work in a thread, one call after the other, with progress and cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from textual.screen import Screen
from textual.timer import Timer

from ...errors import QuizlogError, UsageError
from ...text import one_line
from ..toasts import complain

T = TypeVar("T")
_SLOW_SECONDS = 0.2
"""Work that takes longer (in seconds) is shown, with how to stop it."""
_STOP_SECONDS = 0.1
"""Seconds between two attempts to stop work, which may be between two scripts."""


class SlowWork:
    """Runs calls of a screen.

    Args:
        screen: The screen, which stays usable meanwhile.
        show: Shows what is running; None restores the status.
        cancel: Stops the running call if possible.
    """

    def __init__(
        self,
        screen: Screen[Any],
        show: Callable[[str | None], None],
        cancel: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._show = show
        self._cancel = cancel
        self.running = False
        """Whether something is running that Escape can stop."""
        self.slow = False
        """Whether it takes so long that it is shown."""
        self._turn = asyncio.Lock()
        self._stops = 0
        self._stopping: Timer | None = None

    async def run(self, call: Callable[[], T], doing: str = "running") -> T | None:
        """Run a call in a thread; its result, or None after an error that was shown.

        Calls run one after the other; stopping one drops those that wait for it.
        """
        stops = self._stops
        async with self._turn:
            return await self._run(call, doing) if stops == self._stops else None

    async def _run(self, call: Callable[[], T], doing: str) -> T | None:
        self.running = True
        slow = self._screen.set_timer(_SLOW_SECONDS, partial(self._tell_slow, doing))
        try:
            return await asyncio.to_thread(call)
        except QuizlogError as error:
            complain(self._screen, error)
            return None
        except OSError as error:
            complain(self._screen, UsageError(error.strerror or str(error), where=error.filename))
            return None
        finally:
            slow.stop()
            self.running = self.slow = False
            if self._stopping:
                self._stopping.stop()
                self._stopping = None
            if self._screen.is_mounted:
                self._show(None)

    def _tell_slow(self, doing: str) -> None:
        self.slow = True
        self._tell(doing)

    def tell_progress(self, doing: str) -> None:
        """Show what the work is doing now; called from its thread."""
        self._screen.app.call_from_thread(self._tell, doing)

    def _tell(self, doing: str) -> None:
        if self.running and self._screen.is_mounted:
            self._show(f"… {one_line(doing)}; Escape stops it")

    def stop(self) -> None:
        """Cancel the work repeatedly until it ends."""
        self._stops += 1
        self._cancel()
        if self._stopping is None:
            self._stopping = self._screen.set_interval(_STOP_SECONDS, self._cancel)
