"""A sandbox for each kind of isolation that this machine can have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quizlog_tui.sandbox import box
from quizlog_tui.sandbox.executor import Sandbox

KINDS = ("bwrap", "undivided", "landlock", "rlimits")
COMMAND = box._command


def _undivided(command: list[str]) -> list[str]:
    """The command line with a server that finds that it cannot divide its box."""
    start = command[-1].replace("main(", "server._divisible = lambda: False; server.main(")
    return [
        *command[:-1],
        start.replace("from inside.server import main", "from inside import server"),
    ]


@pytest.fixture(params=KINDS, scope="module")
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """One sandbox of a kind for a file of tests; skips with the machine's reason if there is none."""
    kind = request.param
    level = "bwrap" if kind == "undivided" else kind
    with pytest.MonkeyPatch.context() as patch, Sandbox(preload=(), order=[level]) as made:
        if kind == "undivided":
            patch.setattr(box, "_command", lambda level, fd: _undivided(COMMAND(level, fd)))
        if made.level() is None:
            pytest.skip(f"{kind} is not to be had here: {made.why()}")
        yield made


@pytest.fixture
def best(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """The best isolation this machine has."""
    monkeypatch.setattr(box, "_command", COMMAND)
    with Sandbox(preload=(), order=box.ISOLATED) as made:
        if made.level() is None:
            pytest.skip(f"there is no isolation here: {made.why()}")
        yield made
