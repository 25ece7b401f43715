"""For `tests/once_more.py`: a plugin of pytest that notes how tests ended, and runs some tests only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

_passed: set[str] = set()
_failed: dict[str, str] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    told = "write which tests passed and failed, as JSON"
    parser.addoption("--outcomes", type=Path, metavar="FILE", help=told)
    told = "run only the tests that are named in this file, a list in JSON"
    parser.addoption("--only", type=Path, metavar="FILE", help=told)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("only") is None:
        return
    names = set(json.loads(config.getoption("only").read_text(encoding="utf-8")))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in names])
    items[:] = [item for item in items if item.nodeid in names]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.setdefault(report.nodeid, one_line(report))
    elif report.passed and report.when == "call":
        _passed.add(report.nodeid)


def one_line(report: pytest.TestReport) -> str:
    """The first line of what went wrong."""
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message if crash else str(report.longrepr)
    return next((line.strip() for line in message.splitlines() if line.strip()), "no message")


def pytest_sessionfinish(session: pytest.Session) -> None:
    target = session.config.getoption("outcomes")
    if target is not None and not hasattr(session.config, "workerinput"):
        told = {
            "passed": sorted(_passed - _failed.keys()),
            "failed": _failed,
            "stopped": bool(session.shouldfail or session.shouldstop),
        }
        target.write_text(json.dumps(told), encoding="utf-8")
