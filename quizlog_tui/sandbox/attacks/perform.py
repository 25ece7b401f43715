"""Runs attacks and judges them. Paths that must not appear are looked at again at the very end."""

from __future__ import annotations

import glob
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ...scratch import scratch_names
from ..executor import Sandbox
from ..inside.setup import Level
from ..result import ExecResult, Limits
from ..workspace import RUN
from .entries import INVARIANTS, Attack
from .judge import CHECKS, Attempt, Check
from .observe import Observer, held_elsewhere, listening, processes
from .scene import Scene, digest

_GRACE = 3.0
_LATE = 5.0
"""Seconds after which a path that must not appear has not."""
_PROBE = "answer=41+1"
_MEASURED = {"wall_max", "peak_mem_max_mb", "parent_rss_max_mb", "host_disk_delta_max_mb"}

_KNOWN_LACKS: Mapping[Level, frozenset[str]] = {
    "bwrap": frozenset(),
    "landlock": frozenset({"mem-tmpfs", "disk-fill-many"}),
    "rlimits": frozenset(),
}


def lacks(level: Level) -> frozenset[str]:
    """Attacks that need more than this kind of isolation has."""
    return _KNOWN_LACKS[level]


@dataclass(frozen=True)
class Judgement:
    """What came of one attack."""

    attack: Attack
    status: str
    isolation: str
    wrong: tuple[str, ...]
    """What did not hold; empty when the guarantee did."""


def perform(
    attacks: Sequence[Attack], sandbox: Sandbox, checks: Mapping[str, Check]
) -> Iterator[Judgement]:
    """Run attacks one after the other, each judged when its turn is over.

    Args:
        attacks: Which.
        sandbox: What to attack.
        checks: More checks by name, for guarantees that other parts of quizlog give.
    """
    with Scene() as scene:
        sandbox.run(_PROBE, None, Limits(wall=60))
        late: list[tuple[Judgement, float, str]] = []
        for attack in attacks:
            judgement = _judged(attack, scene, sandbox, CHECKS | dict(checks))
            paths = [str(v) for name, v in attack.expect if name == "host_path_absent"]
            if paths and not judgement.wrong:
                late.append((judgement, time.monotonic() + _LATE, scene.aimed(paths[0])))
            else:
                yield judgement
        for judgement, when, path in late:
            time.sleep(max(0.0, when - time.monotonic()))
            made = os.path.lexists(path)
            yield replace(judgement, wrong=(f"{path} was made",) if made else ())


def _judged(
    attack: Attack, scene: Scene, sandbox: Sandbox, checks: Mapping[str, Check]
) -> Judgement:
    judgement = _judge(attack, _attempt(attack, scene, sandbox), scene, checks)
    if judgement.wrong and all(said.split(":")[0] in _MEASURED for said in judgement.wrong):
        # Growth and time are the machine's, on which others work too: it counts if it comes again.
        return _judge(attack, _attempt(attack, scene, sandbox), scene, checks)
    return judgement


def _attempt(attack: Attack, scene: Scene, sandbox: Sandbox) -> Attempt:
    watched = (scene.home, scene.outside, scene.workspace)
    before = {str(folder): digest(folder) for folder in watched}
    were, listened, left = processes(), listening(), _leftovers()
    workspace = scene.workspace if attack.in_workspace else None
    observer = Observer()
    try:
        with ThreadPoolExecutor(1) as beside:
            neighbour = beside.submit(_answer, sandbox, 60.0) if attack.neighbour else None
            started = time.monotonic()
            result = sandbox.run(scene.aimed(attack.code), workspace, Limits(wall=attack.wall))
            took = time.monotonic() - started
            neighbour_answer = neighbour.result() if neighbour else 42
    finally:
        observer.stop()
    return Attempt(
        result=result,
        took=took,
        seen=observer,
        before=before,
        survivors=processes() - were - sandbox.servers(),
        listeners={
            a for n, a in listening().items() if n not in listened and not held_elsewhere(n)
        },
        leftovers=sorted(_leftovers() - left),
        next_answer=_answer(sandbox, 60.0),
        neighbour_answer=neighbour_answer,
    )


def _answer(sandbox: Sandbox, wall: float) -> object:
    result: ExecResult = sandbox.run(_PROBE, None, Limits(wall=wall))
    return result.answer


def _leftovers() -> set[str]:
    """Private folders of our runs, and core files where they would be written."""
    temporary = tempfile.gettempdir()
    patterns = (f"{temporary}/{scratch_names(RUN)}*", "core", "core.*", "*.core")
    return {str(Path(name).resolve()) for pattern in patterns for name in glob.glob(pattern)}


def _judge(
    attack: Attack, attempt: Attempt, scene: Scene, checks: Mapping[str, Check]
) -> Judgement:
    wrong = []
    for name, value in (*attack.expect, *((name, None) for name in INVARIANTS)):
        aimed = scene.aimed(value) if isinstance(value, str) else value
        if name == "wall":
            name, aimed = "wall_max", attack.wall + _GRACE
        check = checks.get(name)
        said = check(attempt, scene, aimed) if check else "there is no such check"
        if said:
            wrong.append(f"{name}: {said}")
    return Judgement(
        attack, attempt.result.status, attempt.result.isolation, tuple(dict.fromkeys(wrong))
    )
