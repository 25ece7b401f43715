"""Begins with heavy tests, leaves slow ones out of a quick run, and finds out which those are.

A whole `tests/run` writes the names of slow tests into a file, which `tests/run quick` leaves out. It
leaves out all tests marked `early`, too: they may share a fixture for which whichever is first would pay.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

SLOW = 0.2
"""Seconds; a test that takes longer is left out of a quick run."""
LONG = 1800
"""Seconds; what a test marked `long` may take, if it names no other bound."""

_seconds: defaultdict[str, float] = defaultdict(float)


def pytest_addoption(parser: pytest.Parser) -> None:
    told = "leave out the tests that are named in this file, and those marked early"
    parser.addoption("--quick", type=Path, metavar="FILE", help=told)
    told = f"write the names of all tests that take longer than {SLOW} s"
    parser.addoption("--list-slow", type=Path, metavar="FILE", help=told)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG))
    items.sort(key=lambda item: item.get_closest_marker("early") is None)
    if config.getoption("quick") is None:
        return
    names = set(config.getoption("quick").read_text(encoding="utf-8").splitlines())
    slow = [item for item in items if item.nodeid in names or item.get_closest_marker("early")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in set(slow)]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration


def pytest_terminal_summary(config: pytest.Config) -> None:
    file = config.getoption("list_slow")
    if file is not None:
        slow = sorted(name for name, seconds in _seconds.items() if seconds > SLOW)
        file.write_text("".join(f"{name}\n" for name in slow), encoding="utf-8")
