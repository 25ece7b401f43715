"""After each file of tests nothing is left that it started or made: no process, no temporary file.

Each process of tests has a folder for temporary files and adopts orphans (`own_process`), so that it
can tell them from those of other runs on the machine.
"""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from quizlog_tui.replay.process.spawn import discard
from quizlog_tui.sandbox.executor import shared
from tests.support.processes import below, bury, command_of

SECONDS = 20
"""How long what a file of tests started may take to end by itself."""


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Look for garbage less often, and never among what lives as long as the run.

    Thousands of tests are many objects: to look through them took a sixth of the time of the screens'.
    """
    _collect()
    gc.set_threshold(20_000, 10, 10)


@pytest.fixture(scope="module", autouse=True)
def nothing_left() -> Iterator[None]:
    processes, files = _processes(), _temporary_files()
    yield
    _collect()  # what a test lost is told here, not in a file that comes later
    _end_helpers()
    deadline = time.monotonic() + SECONDS
    while (left := _processes() - processes) and time.monotonic() < deadline:
        time.sleep(0.01)
    bury()
    told = [*map(command_of, left), *sorted(_temporary_files() - files)]
    assert not told, f"left behind: {', '.join(told)}"


def _collect() -> None:
    """Collect garbage; what is left lives long, and is not looked through again."""
    gc.collect()
    gc.freeze()


def _end_helpers() -> None:
    """End what lives as long as a process that uses it, and is started again when it is needed."""
    discard()
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]


def _processes() -> set[int]:
    """Those below this one, but for the sandbox that a whole process shares."""
    return set(below(os.getpid())) - shared().servers()


def _temporary_files() -> set[str]:
    return {str(path) for path in Path(tempfile.gettempdir()).iterdir()}
