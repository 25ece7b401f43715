"""The list of attacks as it is written in its file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
"""What must hold after every attack, whatever it expects itself."""


@dataclass(frozen=True)
class Attack:
    """One piece of hostile (or, as a control, benign) code."""

    id: str
    category: str
    code: str
    guarantee: str
    wall: float
    """Seconds it may run."""
    in_workspace: bool
    """Whether it is given a folder of the machine to work in."""
    neighbour: bool
    """Whether another run must get through beside it."""
    expect: tuple[tuple[str, Any], ...]
    """Names of checks, with their values."""


def load(path: Path) -> list[Attack]:
    """All attacks of a file, in its order."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return [_attack(entry) for entry in data["attacks"]]


def _attack(entry: dict[str, Any]) -> Attack:
    how = entry["how_to_check"]
    return Attack(
        id=entry["id"],
        category=entry["category"],
        code=entry["code"],
        guarantee=entry["guarantee"],
        wall=how["wall_s"],
        in_workspace=how["workspace"] == "bind",
        neighbour=bool(how.get("neighbour")),
        expect=tuple((check["p"], check.get("v")) for check in how["expect"]),
    )
