"""Requests independent runs of a whole script, concurrently; a kill loses no answer.

The caller provides the solver. Every run has its own file next to the episodes file, written after
each answer; a later request continues from there. A run's outcome is not trusted: the builder
replays it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from ...errors import EpisodeError, QuizlogError
from ...files.durable import FileKind, write_text
from ...files.regular_file import read_regular
from .instance import Instance, hint_of
from .runs import SolverRun, run_of

GOLD = 0
"""The sample number of the gold run, which gets the hint."""
CONCURRENT_RUNS = 8
"""Maximum number of concurrent runs by default."""

_MOST_BYTES = 64 * 2**20
_RUN = re.compile(r"run-(\d+)\.json")

Keep = Callable[[SolverRun], None]
"""Stores an unfinished run."""


@dataclass(frozen=True)
class WantedRun:
    """A run to request."""

    instance: Instance
    sample: int
    """Number of the run, by which a solver assigns it to a model; `GOLD` for the gold one."""
    hint: str | None
    """The hint for a teacher; None for an independent run."""

    def file(self, folder: Path) -> Path:
        """The file of the finished run."""
        key = json.dumps([*self.instance.key, self.hint or ""])
        name = sha256(key.encode("utf-8", "replace")).hexdigest()[:16]
        return folder / name / ("gold.json" if self.sample == GOLD else f"run-{self.sample}.json")

    def begun_file(self, folder: Path) -> Path:
        """The file of the unfinished run."""
        return self.file(folder).with_suffix(".begun.json")


class SolveRun(Protocol):
    """Answers a whole script."""

    async def __call__(self, want: WantedRun, *, begun: SolverRun | None, keep: Keep) -> SolverRun:
        """A run from the first question until the script ends or the solver gives up.

        Args:
            want: The script instance, the hint, and the number of the run.
            begun: The stored part of the run, if it was interrupted before.
            keep: Called with the run after each answer.
        """
        ...


@dataclass(frozen=True)
class Solver:
    """A source of runs."""

    open: Callable[[], AbstractAsyncContextManager[SolveRun]]
    """Opens the resources for answering, such as connections to models."""
    concurrent_runs: int = CONCURRENT_RUNS
    """Maximum number of concurrent runs."""


def wanted(instance: Instance, runs: int, *, gold: bool) -> list[WantedRun]:
    """The runs of an instance to request: `runs` without the hint, and one with it if `gold`."""
    extras = instance.attempts[0].extras if instance.attempts else {}
    hint = hint_of(instance.source, extras)
    teacher = [WantedRun(instance, GOLD, hint)] if gold else []
    return teacher + [WantedRun(instance, sample, None) for sample in range(1, runs + 1)]


def finished(instance: Instance, folder: Path) -> list[SolverRun]:
    """All finished runs of an instance, whenever they were requested.

    Raises:
        EpisodeError: A stored run cannot be read.
    """
    [gold, independent] = wanted(instance, 1, gold=True)
    files = {GOLD: gold.file(folder)}
    for file in independent.file(folder).parent.glob("run-*.json"):
        if (match := _RUN.fullmatch(file.name)) is not None:
            files[int(match[1])] = file
    found = ((sample, stored_run(file)) for sample, file in sorted(files.items()))
    return [replace(run, sample=sample) for sample, run in found if run is not None]


def runs_folder(output: Path) -> Path:
    """The folder of the runs requested for an episodes file."""
    return output.parent / f"{output.name}.runs"


async def ask(
    todo: Sequence[WantedRun],
    solve_run: SolveRun,
    folder: Path,
    advanced: Callable[[int, int], None] = lambda done, answers: None,
    concurrent_runs: int = CONCURRENT_RUNS,
) -> list[SolverRun]:
    """All runs in the order of `todo`, read from disk or requested.

    `advanced` gets the number of finished runs and the number of new answers.

    Raises:
        EpisodeError: A stored run cannot be read, or a run failed; finished runs are kept.
    """
    room, done, answers = asyncio.Semaphore(concurrent_runs), 0, 0

    def answered() -> None:
        nonlocal answers
        answers += 1
        advanced(done, answers)

    async def one(want: WantedRun) -> SolverRun:
        nonlocal done
        async with room:
            run = stored_run(want.file(folder)) or await _made(want, solve_run, folder, answered)
        done += 1
        advanced(done, answers)
        return run

    found = await asyncio.gather(*map(one, todo), return_exceptions=True)
    for run in found:
        if isinstance(run, BaseException):
            raise run
    return [run for run in found if isinstance(run, SolverRun)]


async def _made(
    want: WantedRun, solve_run: SolveRun, folder: Path, answered: Callable[[], None]
) -> SolverRun:
    file, under_way = want.file(folder), want.begun_file(folder)

    def keep(run: SolverRun) -> None:
        _write(under_way, run)
        answered()

    run = await solve_run(want, begun=stored_run(under_way), keep=keep)
    if not run.broken:
        _write(file, run)
        under_way.unlink(missing_ok=True)
    return run


def _write(file: Path, run: SolverRun) -> None:
    write_text(file, json.dumps(asdict(run)) + "\n", _STORED_RUN)


def stored_run(file: Path) -> SolverRun | None:
    """The run stored in a file; None if there is no file.

    Raises:
        EpisodeError: The file does not contain a run.
    """
    try:
        return run_of(json.loads(read_regular(file, _MOST_BYTES)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError, QuizlogError) as error:
        hint = "remove the file to request the run again"
        raise EpisodeError(f"contains no run: {error}", where=str(file), hint=hint) from None


def _is_run(path: Path) -> bool:
    try:
        return stored_run(path) is not None
    except EpisodeError:
        return False


_STORED_RUN = FileKind("a stored run", _is_run, makes_folder=True)
