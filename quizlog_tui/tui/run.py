"""Run the screens in a terminal until the user leaves."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import load_config
from ..files.paths import shipped
from ..files.scratch import scratch_folder
from .app import QuizlogApp
from .themes.ascii_signs import shows_signs

if TYPE_CHECKING:
    from ..episodes.read.index import EpisodeFile


def run(record: Path | None, *, guided: bool = False, episodes: EpisodeFile | None = None) -> int:
    """Run the program until the user leaves; the exit code."""
    config, problems = load_config()
    app = QuizlogApp(record, config, problems, guided=guided, episodes=episodes)
    app.in_ascii = not shows_signs(sys.__stderr__)  # where Textual draws
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # without it the terminal would be left as the screens had it
            number = getattr(signal, name)
            signal.signal(number, lambda number, frame: app.exit(return_code=128 + number))
    app.run(mouse=config.mouse)
    return app.return_code or 0


def run_demo() -> int:
    """A guided first run on a copy of a shipped example, which is thrown away; the exit code."""
    with scratch_folder("demo") as folder:
        target = folder / "arithmetic"
        shutil.copytree(shipped("records") / "arithmetic", target)
        return run(target / "record.yaml", guided=True)
