"""Reads the list of attacks by quizzes from its file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quizlog_tui.replay.process.process import Limits
from tests.attacks.entries import INVARIANTS, AttackEntry, common

ALSO = ("no_traceback", "devices_unchanged", "victim_unchanged", "script_unchanged")
"""Checks made after every attack by a quiz, in addition to `INVARIANTS`."""
EVERY = (*INVARIANTS, *ALSO)
_MEGA = 1 << 20


@dataclass(frozen=True)
class QuizAttack(AttackEntry):
    """A hostile quiz, or hostile answers to a harmless one, and the commands that follow."""

    script: str
    answers: tuple[str, ...]
    """The answers to a live run, in order."""
    sibling: tuple[str, ...] | None
    """Answers of another live run of the same script, before that; None for no such run."""
    sibling_then: str
    """Its answer after the attack; it must then print 42."""
    beside: tuple[tuple[str, str], ...]
    """Files in the script's folder: name and text."""
    links: tuple[tuple[str, str], ...]
    """Links in the script's folder: name and target."""
    pipes: tuple[str, ...]
    """Pipes with names in the script's folder."""
    commands: tuple[tuple[str, ...], ...]
    """The arguments of `quizlog` commands, run in order."""
    limits: Limits
    open: str
    """Why it is known to succeed; empty if it is not."""


def load(path: Path) -> list[QuizAttack]:
    """All attacks of a file, in its order."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return [_attack(entry, data["quizzes"]) for entry in data["attacks"]]


def _attack(entry: dict[str, Any], quizzes: dict[str, str]) -> QuizAttack:
    limits = entry.get("limits", {})
    sibling = entry.get("sibling")
    return QuizAttack(
        **common(entry),
        script=entry["script"] if "script" in entry else quizzes[entry["quiz"]],
        answers=tuple(entry.get("answers", ())),
        sibling=None if sibling is None else tuple(sibling),
        sibling_then=entry.get("sibling_then", "42"),
        beside=tuple(entry.get("beside", {}).items()),
        links=tuple(entry.get("links", {}).items()),
        pipes=tuple(entry.get("pipes", ())),
        commands=tuple(tuple(words) for words in entry.get("commands", ())),
        limits=Limits(
            seconds=limits.get("seconds", entry["how_to_check"]["wall_s"]),
            memory=limits.get("memory_mb", 1024) * _MEGA,
            processes=limits.get("processes", 64),
        ),
        open=entry.get("open", ""),
    )
