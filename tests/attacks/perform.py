"""Runs attacks and judges them. Paths that must not appear are checked again at the very end."""

from __future__ import annotations

import glob
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from quizlog_tui.sandbox.executor import Sandbox
from quizlog_tui.sandbox.inside.wire import Level
from quizlog_tui.sandbox.result import ExecResult, SandboxLimits
from quizlog_tui.sandbox.run import RUN
from tests.attacks.entries import INVARIANTS, Attack, AttackEntry
from tests.attacks.judge import CHECKS, Attempt, Check
from tests.attacks.observe import MachineWatch, adopting
from tests.attacks.scene import Scene

_GRACE = 3.0
"""Seconds that an attack may take beyond its own limit, on an idle machine."""
_LATE = 5.0
"""Seconds to wait before the last check for paths that must not appear."""
_PROBE = "answer=41+1"
_MEASURED = {"wall_max", "peak_mem_max_mb", "parent_rss_max_mb", "host_disk_delta_max_mb"}

_KNOWN_LACKS: Mapping[Level, frozenset[str]] = {
    "bwrap": frozenset(),
    "landlock": frozenset({"mem-tmpfs", "disk-fill-many"}),
    "rlimits": frozenset(),
}


def known_gaps(level: Level) -> frozenset[str]:
    """Attacks that this isolation level is known not to stop."""
    return _KNOWN_LACKS[level]


@dataclass(frozen=True)
class Judgement:
    """The judgement of an attack."""

    attack: AttackEntry
    status: str
    isolation: str
    wrong: tuple[str, ...]
    """The violated guarantees; empty if all held."""


class Tried(Protocol):
    """The observations of an attack, for the checks."""

    @property
    def status(self) -> str:
        """How it ended."""

    @property
    def isolation(self) -> str:
        """What it ran under."""


E = TypeVar("E", bound=AttackEntry)


@dataclass(frozen=True)
class JudgingRules:
    """How attempts are judged."""

    checks: Mapping[str, Check]
    """The checks by name."""
    invariants: Sequence[str] = INVARIANTS
    """Names of the checks made after every attack."""


def perform(
    attacks: Sequence[Attack], sandbox: Sandbox, checks: Mapping[str, Check]
) -> Iterator[Judgement]:
    """Run attacks on a sandbox one after the other, and judge each when it is over.

    Args:
        attacks: The attacks.
        sandbox: The sandbox to attack.
        checks: Further checks by name, for guarantees of other parts of quizlog.
    """
    sandbox.run(_PROBE, None, SandboxLimits(wall=60))

    def attempt(attack: Attack, scene: Scene) -> Attempt:
        return _attempt(attack, scene, sandbox)

    yield from judged(attacks, attempt, JudgingRules(CHECKS | dict(checks)))


def judged(
    attacks: Sequence[E], attempt: Callable[[E, Scene], Tried], rules: JudgingRules
) -> Iterator[Judgement]:
    """Make attempts one after the other, and judge each when it is over.

    Args:
        attacks: The attacks.
        attempt: Runs an attack.
        rules: How attempts are judged.
    """
    with Scene() as scene, adopting():
        late: list[tuple[Judgement, float, str]] = []
        # Those that are checked again come first, so that the others pass the time until then.
        for attack in sorted(attacks, key=lambda attack: not _forbidden(attack)):
            judgement = _judged(attack, scene, attempt, rules)
            paths = _forbidden(attack)
            if paths and not judgement.wrong:
                late.append((judgement, time.monotonic() + _LATE, scene.aimed(paths[0])))
            else:
                yield judgement
        for judgement, when, path in late:
            time.sleep(max(0.0, when - time.monotonic()))
            made = os.path.lexists(path)
            yield replace(judgement, wrong=(f"{path} was made",) if made else ())


def _forbidden(attack: AttackEntry) -> list[str]:
    """The paths that must not appear."""
    return [str(value) for name, value in attack.expect if name == "host_path_absent"]


def _judged(
    attack: E, scene: Scene, attempt: Callable[[E, Scene], Tried], rules: JudgingRules
) -> Judgement:
    judgement = _judge(attack, attempt(attack, scene), scene, rules)
    if judgement.wrong and all(said.split(":")[0] in _MEASURED for said in judgement.wrong):
        # Other programs affect growth and time, so a violation counts only if it occurs again.
        return _judge(attack, attempt(attack, scene), scene, rules)
    return judgement


def _attempt(attack: Attack, scene: Scene, sandbox: Sandbox) -> Attempt:
    left = _leftovers()
    workspace = scene.workspace if attack.in_workspace else None
    watch = MachineWatch(scene)
    try:
        with ThreadPoolExecutor(1) as beside:
            neighbour = beside.submit(_answer, sandbox, 60.0) if attack.neighbour else None
            result = sandbox.run(
                scene.aimed(attack.code), workspace, SandboxLimits(wall=attack.wall)
            )
            watch.over()
            neighbour_answer = neighbour.result() if neighbour else 42
    finally:
        machine = watch.stop(sandbox.servers)
    return Attempt(
        result=result,
        machine=machine,
        leftovers=sorted(_leftovers() - left),
        next_answer=_answer(sandbox, 60.0),
        neighbour_answer=neighbour_answer,
    )


def _answer(sandbox: Sandbox, wall: float) -> object:
    result: ExecResult = sandbox.run(_PROBE, None, SandboxLimits(wall=wall))
    return result.answer


def _leftovers() -> set[str]:
    """Private folders of this process's runs, and core files."""
    temporary = tempfile.gettempdir()
    patterns = (f"{temporary}/quizlog.{RUN}.{os.getpid()}-*", "core", "core.*", "*.core")
    return {str(Path(name).resolve()) for pattern in patterns for name in glob.glob(pattern)}


def _busy() -> float:
    """How many times longer a process takes on this machine because of other programs."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _judge(attack: AttackEntry, attempt: Tried, scene: Scene, rules: JudgingRules) -> Judgement:
    wrong = []
    for name, value in (*attack.expect, *((name, None) for name in rules.invariants)):
        aimed: Any = scene.aimed(value) if isinstance(value, str) else value
        if name == "wall":
            name, aimed = "wall_max", attack.wall + _GRACE
        if name == "wall_max":
            aimed += _GRACE * (_busy() - 1)
        check = rules.checks.get(name)
        said = check(attempt, scene, aimed) if check else "there is no such check"
        if said:
            wrong.append(f"{name}: {said}")
    return Judgement(attack, attempt.status, attempt.isolation, tuple(dict.fromkeys(wrong)))
