"""Files of tests that start a browser go to one worker, one after the other, and soon.

A browser is a hundred processes and threads. Four at a time were more than some machines allow,
where then nothing else could be started: tests failed that had nothing to do with browsers.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

TESTS = Path(__file__).parent.parent
STARTS = re.compile(r"needs_browser|shares_browser|chromium")


class OneBrowser(LoadFileScheduling):  # type: ignore[misc]
    """`--dist loadfile`, for which all files that start a browser are one."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        return "browsers" if starts_browser(TESTS.parent / file) else file


@cache
def starts_browser(file: Path) -> bool:
    """Whether tests of a file start a browser, by what stands in it."""
    return STARTS.search(file.read_text(encoding="utf-8")) is not None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with them, but for what is marked `early`: one worker has much to do with them."""
    items.sort(key=lambda item: not starts_browser(item.path))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneBrowser | None:
    return OneBrowser(config, log) if config.getoption("dist") == "loadfile" else None
