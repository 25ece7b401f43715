"""Run the screens in a terminal until the user leaves."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import load_config
from ..files.paths import shipped
from ..files.scratch import scratch_folder
from ..session.audit import Audit, audit_mode
from .app import QuizlogApp
from .line_filters import shows_signs
from .state import State

if TYPE_CHECKING:
    from ..episodes.read.index import EpisodeFile


_GRACE_SECONDS = 10.0
"""How long leaving may take after the terminal was closed: nobody takes what is written to it."""


def run(
    record: Path | None,
    *,
    read_only: bool = False,
    folder: Path | None = None,
    allow: Collection[str] = (),
    episodes: EpisodeFile | None = None,
    audit: Audit | None = None,
) -> int:
    """Run the program until the user leaves; the exit code.

    Args:
        record: What to open; see `QuizlogApp`.
        read_only: Open it in audit mode, as the settings may say as well.
        folder: The folder that is served to a browser, outside which audit mode reads no file; None
            in a terminal.
        allow: What is allowed in audit mode.
        episodes: A file of episodes to look into, instead of records.
        audit: The audit mode of what is only read by its nature, unless one was asked for.
    """
    config, problems = load_config()
    audit = audit_mode(read_only, config.audit, allow, folder) or audit
    with _state_of_tab() if folder else nullcontext(State()) as state:
        app = QuizlogApp(record, config, problems, state=state, episodes=episodes, audit=audit)
        return _run(app)


@contextmanager
def _state_of_tab() -> Iterator[State]:
    """What a browser's tab remembers until it ends: whoever looks there may not be the user."""
    with scratch_folder("tab") as place:
        state = State(place / "screens.json")
        state.theme = State().theme
        yield state


def _run(app: QuizlogApp) -> int:
    app.in_ascii = not shows_signs(sys.__stderr__)  # where Textual draws
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # without it the terminal would be left as the screens had it
            number = getattr(signal, name)
            signal.signal(number, lambda number, frame: _leave(app, number))
    if app.driver_class.__name__ == "LinuxDriver":  # not on Windows, nor in a browser
        from .terminal_input import TerminalDriver

        app.driver_class = TerminalDriver
    app.run(mouse=app.config.mouse)
    return app.return_code or 0


def _leave(app: QuizlogApp, number: int) -> None:
    """End the program after a signal; at once if it still waits for a terminal that is gone."""
    app.exit(return_code=128 + number)
    if number == getattr(signal, "SIGHUP", 0):
        late = threading.Timer(_GRACE_SECONDS, os._exit, (128 + number,))
        late.daemon = True
        late.start()


def run_demo() -> int:
    """Run the guided tour on a temporary copy of a shipped example; the exit code."""
    with scratch_folder("demo") as folder:
        target = folder / "arithmetic"
        shutil.copytree(shipped("records") / "arithmetic", target)
        return _run(QuizlogApp(target / "record.yaml", *load_config(), guided=True))
