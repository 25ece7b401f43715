"""Reads the lists of attacks on the sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

_DATA = Path(__file__).parent.parent / "data"
CODE_ATTACKS = (_DATA / "attacks.json", _DATA / "code_attacks.json")
QUIZ_ATTACKS = _DATA / "quiz_attacks.json"

INVARIANTS = (
    "parent_alive",
    "victim_alive",
    "no_survivors",
    "no_connection",
    "outside_unchanged",
    "canary_absent",
    "next_run_ok",
    "wall",
)
"""Checks made after every attack, in addition to its own expectations."""


@dataclass(frozen=True)
class AttackEntry:
    """The fields common to attacks on the sandbox and by quizzes."""

    id: str
    category: str
    guarantee: str
    wall: float
    """Maximum seconds it may run."""
    expect: tuple[tuple[str, Any], ...]
    """Names of checks, with their values."""


@dataclass(frozen=True)
class Attack(AttackEntry):
    """One piece of hostile (or, as a control, benign) code."""

    code: str
    in_workspace: bool
    """Whether it gets a folder of the machine as its workspace."""
    neighbour: bool
    """Whether another run must succeed at the same time."""


E = TypeVar("E", bound=AttackEntry)


def one_of_each_class(attacks: Iterable[E]) -> list[E]:
    """The first attack of each class."""
    first: dict[str, E] = {}
    for attack in attacks:
        first.setdefault(attack.category, attack)
    return list(first.values())


def load(*paths: Path) -> list[Attack]:
    """All attacks in some files, in order."""
    lists = [json.loads(path.read_text(encoding="utf-8"))["attacks"] for path in paths]
    return [_attack(entry) for entries in lists for entry in entries]


def _attack(entry: dict[str, Any]) -> Attack:
    how = entry["how_to_check"]
    return Attack(
        **common(entry),
        code=entry["code"],
        in_workspace=how["workspace"] == "bind",
        neighbour=bool(how.get("neighbour")),
    )


def common(entry: dict[str, Any]) -> dict[str, Any]:
    """The fields of an `AttackEntry`, from an entry of the file."""
    how = entry["how_to_check"]
    return {
        "id": entry["id"],
        "category": entry["category"],
        "guarantee": entry["guarantee"],
        "wall": how["wall_s"],
        "expect": tuple((check["p"], check.get("v")) for check in how["expect"]),
    }
