"""A bar with the time left instead of a dot for each test, for who watches a run in a terminal."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TextIO

import pytest
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Status = tuple[str, str, str | tuple[str, Mapping[str, bool]]]
"""A test's category, letter and word for pytest's report."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bar", action="store_true", help="show a bar with the time left")


def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    if config.getoption("bar") and not hasattr(config, "workerinput"):
        # What is written to stdout during tests is captured; this is where pytest itself writes.
        config.pluginmanager.register(Bar(config.get_terminal_writer()._file))


class Bar:
    """Counts the tests that have ended, wherever they run.

    Args:
        terminal: Where the bar is shown.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._progress = Progress(
            BarColumn(),
            TaskProgressColumn(),
            MofNCompleteColumn(),
            TextColumn("tests"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=Console(file=terminal),
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("tests", total=None)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:  # they run here, and not in workers
            self._begin(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._begin(len(ids))

    def _begin(self, count: int) -> None:
        self._progress.update(self._task, total=count)
        self._progress.start()

    def pytest_runtest_logfinish(self) -> None:
        self._progress.advance(self._task)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name at once what fails."""
        if report.failed:
            self._progress.console.print(f"failed: {report.nodeid}", markup=False, highlight=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, Status, Status]:
        """Leave out the letter of each test."""
        category, _, word = yield
        return category, "", word

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._progress.stop()
