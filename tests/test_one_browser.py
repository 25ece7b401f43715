"""Which files of tests are tried by one worker, so that there is one browser at a time."""

from __future__ import annotations

from typing import cast

import pytest

from tests.support.one_browser import OneBrowser


@pytest.mark.parametrize(
    ("test", "group"),
    [
        ("tests/webquiz/test_scenarios.py::test_a[b::c]", "browsers"),
        ("tests/report/test_player.py::test_a", "browsers"),
        ("tests/report/test_export.py::test_a", "tests/report/test_export.py"),
    ],
)
def test_files_that_start_a_browser_are_one(test: str, group: str) -> None:
    assert OneBrowser._split_scope(cast(OneBrowser, None), test) == group
