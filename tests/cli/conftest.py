"""What tests of the command line share: running one in the test's folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from quizlog_tui.cli import main
from tests.support.build import Build

Run = Callable[..., tuple[int, str, str]]
"""Runs one command line; its exit code, stdout and stderr."""


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], build: Build, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs one command line in the test's folder."""
    monkeypatch.chdir(build.folder)

    def call(*words: str) -> tuple[int, str, str]:
        code = main(words)
        out, err = capfd.readouterr()
        return code, out, err

    return call
