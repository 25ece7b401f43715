"""One answer on its way through a live run, for callers that must not block while it is."""

from __future__ import annotations

from collections.abc import Callable

from .run import Run
from .transcript import Transcript


class PendingStep:
    """A step that was begun. Its replayer is kept for it until `finish` or `abandon` is called.

    Args:
        run: The run that was given an answer.
        follow: Follows it to its stop.
        drop: Gives the run up.
        release: Gives the replayer back.
    """

    def __init__(
        self,
        run: Run,
        follow: Callable[[], Transcript],
        drop: Callable[[], None],
        release: Callable[[], None],
    ) -> None:
        self._run = run
        self._follow = follow
        self._drop = drop
        self._release = release

    def fileno(self) -> int:
        """A descriptor that is readable once the run has told something."""
        return self._run.process.fileno()

    def asks(self) -> bool:
        """Take what arrived, without blocking; whether the run asks, so `finish` will not wait."""
        return self._run.process.asks()

    def finish(self) -> Transcript:
        """Follow the run to its stop, however long that takes. In any thread.

        Raises:
            LimitError: The script went over a limit.
            CancelledError: It was cancelled.
        """
        try:
            return self._follow()
        finally:
            self._release()

    def abandon(self) -> None:
        """Give the run up; nobody waits for it any more."""
        try:
            self._drop()
        finally:
            self._release()
