"""The checks of guarantees: a function for each, which returns a reason if it is violated."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from quizlog_tui.sandbox.result import ExecResult
from tests.attacks.observe import Observations
from tests.attacks.scene import Scene, digest

_MEGA = 1 << 20


@dataclass(frozen=True)
class Attempt:
    """An attack that was run, with all observations."""

    result: ExecResult
    machine: Observations
    leftovers: list[str]
    """Remaining private folders of runs, and core files."""
    next_answer: Any
    """The answer of the next run; 42 is right."""
    neighbour_answer: Any
    """The answer of the run at the same time; 42 is right."""

    @property
    def status(self) -> str:
        """How it ended."""
        return self.result.status

    @property
    def isolation(self) -> str:
        """What it ran under."""
        return self.result.isolation


Check = Callable[[Any, Scene, Any], str | None]
"""Judges an attempt, given the scene and a value; returns a reason, or None if it holds."""


def must(holds: bool, reason: str) -> str | None:
    """None if a condition holds, else the reason."""
    return None if holds else reason


def _shown(answer: Any) -> str:
    return f"answer {str(answer)[:60]}"


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b


def status_in(attempt: Attempt, scene: Scene, value: list[str]) -> str | None:
    """The status is one of those named, which never include `sandbox_error`."""
    return must(attempt.result.status in value, f"status {attempt.result.status}")


def answer_eq(attempt: Attempt, scene: Scene, value: Any) -> str | None:
    """The answer is this value, of the same type."""
    right = attempt.result.status == "ok" and _same(attempt.result.answer, value)
    return must(right, f"{attempt.result.status}, {_shown(attempt.result.answer)}")


def answer_le(attempt: Attempt, scene: Scene, value: float) -> str | None:
    """There is no answer, or it is not greater than this."""
    result = attempt.result
    return must(result.status != "ok" or result.answer <= value, _shown(result.answer))


def canary_absent(attempt: Attempt, scene: Scene, value: Any) -> str | None:
    """No part of the result contains the secret."""
    result = attempt.result
    parts = (str(result.answer), result.stdout, result.stderr, result.error or "")
    return must(not any(map(scene.reveals, parts)), "the secret came out")


def unchanged(attempt: Any, scene: Scene, value: str) -> str | None:
    """A folder is unchanged."""
    same = digest(Path(value)) == attempt.machine.before[value]
    return must(same, f"{Path(value).name} was changed")


def no_extra_fields(attempt: Attempt, scene: Scene, value: Any) -> str | None:
    """The fields that the parent sets are the parent's."""
    result = attempt.result
    names = {field.name for field in fields(result)}
    own = result.seconds >= 0 and result.isolation != "none" and set(vars(result)) == names
    return must(own, "a field was forged")


def peak(attribute: str, unit: int) -> Check:
    """A check that a growth stayed within its limit."""

    def check(attempt: Any, scene: Scene, value: float) -> str | None:
        grown = getattr(attempt.machine.seen, attribute) / unit
        return must(grown <= value, f"{attribute} grew by {grown:.0f}")

    return check


OF_MACHINE: dict[str, Check] = {
    "wall_max": lambda a, s, v: must(a.machine.took <= v, f"took {a.machine.took:.1f} s"),
    "host_path_absent": lambda a, s, v: must(not os.path.lexists(v), f"{v} was made"),
    "host_tree_unchanged": unchanged,
    "outside_unchanged": lambda a, s, v: unchanged(a, s, str(s.outside)),
    "no_connection": lambda a, s, v: must(not s.connected(), "a listener was reached"),
    "no_new_host_listener": lambda a, s, v: must(
        not a.machine.listeners, f"{len(a.machine.listeners)} more"
    ),
    "no_survivors": lambda a, s, v: must(
        not a.machine.survivors, f"{len(a.machine.survivors)} still run"
    ),
    "parent_alive": lambda a, s, v: must(a.machine.took >= 0, "nobody is left to ask"),
    "victim_alive": lambda a, s, v: must(s.victim.poll() is None, "the victim is gone"),
    "peak_pids_max": peak("tasks", 1),
    "peak_mem_max_mb": peak("memory", _MEGA),
    "parent_rss_max_mb": peak("resident", _MEGA),
    "host_disk_delta_max_mb": peak("disk", _MEGA),
}
"""Checks of the observations of the machine, for any kind of attack."""
CHECKS: dict[str, Check] = OF_MACHINE | {
    "status_in": status_in,
    "answer_eq": answer_eq,
    "answer_ne": lambda a, s, v: must(not _same(a.result.answer, v), f"answer {v}"),
    "answer_in": lambda a, s, v: must(a.result.answer in v, _shown(a.result.answer)),
    "answer_le": answer_le,
    "no_core": lambda a, s, v: must(not a.leftovers, f"left {a.leftovers}"),
    "workspace_removed": lambda a, s, v: must(not a.leftovers, f"left {a.leftovers}"),
    "artifacts_safe": lambda a, s, v: unchanged(a, s, str(s.workspace)),
    "canary_absent": canary_absent,
    "no_extra_fields": no_extra_fields,
    "next_run_ok": lambda a, s, v: must(
        a.next_answer == 42 and a.neighbour_answer == 42, "another run was disturbed"
    ),
}
"""All checks of the sandbox by name, except those that need other parts of quizlog."""
