"""One attack of each class: what belongs to every run of the tests, where all take minutes.

As a program: `quizlog doctor --attacks`, with one of each class that needs `WALLS` alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest

from quizlog_tui import cli
from quizlog_tui.cli.machine.quiz_attacks import entries as quiz_entries
from quizlog_tui.sandbox.attacks import entries

E = TypeVar("E", bound=entries.AttackEntry)
WALLS = {"read", "kernel", "network", "outside", "files"}
"""Classes of attacks that fail by what the system does for this user, and not by our own code."""


def one_of_each_class(attacks: Iterable[E]) -> list[E]:
    """The first attack of each class."""
    first: dict[str, E] = {}
    for attack in attacks:
        first.setdefault(attack.category, attack)
    return list(first.values())


def as_parameters(attacks: Sequence[E]) -> list[object]:
    """The names of attacks; all but one of each class are for long runs."""
    some = {attack.id for attack in one_of_each_class(attacks)}
    return [
        attack.id if attack.id in some else pytest.param(attack.id, marks=pytest.mark.long)
        for attack in attacks
    ]


def chosen(request: pytest.FixtureRequest, attacks: Iterable[E]) -> list[E]:
    """The attacks that some test of this run is about."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    names = {
        item.callspec.params["name"]
        for item in items
        if item.path == request.path and hasattr(item, "callspec")
    }
    return [attack for attack in attacks if attack.id in names]


def main() -> int:
    """Run the command."""
    lists: dict[str, Callable[..., list[Any]]] = {
        "quizlog_tui.cli.machine.attacks.load": entries.load,
        "quizlog_tui.cli.machine.quiz_attacks.entries.load": quiz_entries.load,
    }
    with ExitStack() as stack:
        for name, load in lists.items():
            stack.enter_context(patch(name, partial(_some, load)))
        return cli.main(["doctor", "--attacks", "--json"])


def _some(load: Callable[..., list[Any]], *paths: Path) -> list[Any]:
    return [attack for attack in one_of_each_class(load(*paths)) if attack.category in WALLS]


if __name__ == "__main__":
    sys.exit(main())
