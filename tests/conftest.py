"""What every test gets: a home of its own, an environment and signals without surprises."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import settings

from tests.support.own_process import adopt_orphans, reset_signals, take_temporary_folder

# A busy machine is no failure, so there are no deadlines. A plain run tries the same examples each time.
settings.register_profile("plain", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=250)
settings.load_profile("plain")

_UNWANTED = (
    "NO_COLOR",
    "COLUMNS",
    "LINES",
    "EDITOR",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
)
for _name in _UNWANTED:
    os.environ.pop(_name, None)
os.environ["TEXTUAL_ANIMATIONS"] = "none"
reset_signals()
take_temporary_folder()
adopt_orphans()

from quizlog_tui.replay.replayer import Replayer  # noqa: E402
from tests.support.build import Build  # noqa: E402

pytest_plugins = [
    "pytester",
    "tests.support.leftovers",
    "tests.support.one_browser",
    "tests.support.outcomes",
    "tests.support.progress",
    "tests.support.slow_tests",
]


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home))


@pytest.fixture
def replayer() -> Iterator[Replayer]:
    with Replayer() as shared:
        yield shared


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Makes scripts and records in a fresh folder."""
    return Build(tmp_path, dedent)
