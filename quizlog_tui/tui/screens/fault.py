"""The error panel for a defect in quizlog. It replaces the faulty screen and says how to go on.

It uses only Textual's own widgets, because any of ours may be the one that fails.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import WorkerFailed

from ...text import one_line, visible


class FaultScreen(Screen[None]):
    """Shows what went wrong and where; dismisses when the user goes on.

    Args:
        error: The exception.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,escape,q", "dismiss", "Go on")]
    DEFAULT_CSS = """
    FaultScreen {
        & VerticalScroll { border: round $error; padding: 0 1; }
        & #what { color: $error; text-style: bold; }
        & #trace { color: $text-muted; margin-top: 1; }
    }
    """

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error.error if isinstance(error, WorkerFailed) else error

    def compose(self) -> ComposeResult:
        """What happened, what to do, and the traceback for a report."""
        with VerticalScroll() as panel:
            panel.border_title = "Error in quizlog"
            yield Static(_describe_error(self._error), id="what", markup=False)
            yield Static(_MEND, markup=False)
            trace = "".join(traceback.format_exception(self._error))
            yield Static(visible(trace.rstrip()), id="trace", markup=False)


_MEND = (
    "The record was not changed by this; every answer that was given is kept.\n"
    "Enter closes this panel and goes on; Ctrl+Q leaves quizlog.\n"
    "If it happens again, please report it with the lines below."
)


def _describe_error(error: BaseException) -> str:
    """The exception and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"✗ {type(error).__name__}: {one_line(str(error))}{place}"
