"""A sandbox for each kind of isolation that this machine can have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quizlog_tui.sandbox import box
from quizlog_tui.sandbox.executor import Sandbox

KINDS = ("bwrap", "undivided", "landlock", "rlimits")


def make(kind: str, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """A sandbox of a kind; skips with the machine's reason where there is none."""
    if kind == "undivided":
        command = box._command
        monkeypatch.setattr(box, "_command", lambda level, fd: _undivided(command(level, fd)))
    sandbox = Sandbox(preload=(), order=["bwrap" if kind == "undivided" else kind])  # type: ignore[list-item]
    if sandbox.level() is None:
        sandbox.close()
        pytest.skip(f"{kind} is not to be had here: {sandbox.why()}")
    return sandbox


def _undivided(command: list[str]) -> list[str]:
    """The command line with a server that finds that it cannot divide its box."""
    start = command[-1].replace("main(", "server._divisible = lambda: False; server.main(")
    return [
        *command[:-1],
        start.replace("from inside.server import main", "from inside import server"),
    ]


@pytest.fixture(params=KINDS)
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    with make(request.param, monkeypatch) as made:
        yield made


@pytest.fixture
def best(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """The best isolation this machine has."""
    with Sandbox(preload=(), order=box.ISOLATED) as made:
        if made.level() is None:
            pytest.skip(f"there is no isolation here: {made.why()}")
        yield made
