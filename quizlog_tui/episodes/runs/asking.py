"""Asking for independent runs of a whole script, side by side; a kill loses no answer given.

Who answers is given from outside. Every run is a file of its own beside the episodes file, written
after each of its answers; asking again goes on from there. What a run leads to is not trusted: the
builder replays it.
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
from ...record.durable import write_text
from .declared import hint_of
from .instance import Instance
from .runs import SolverRun, Turn

GOLD = 0
"""The sample number of the run that is told the hint."""
ABREAST = 8
"""Runs that are under way at the same time, where nothing else is said."""

_RUN = re.compile(r"run-(\d+)\.json")

Keep = Callable[[SolverRun], None]
"""Keeps a run that is under way."""


@dataclass(frozen=True)
class WantedRun:
    """One run to ask for."""

    instance: Instance
    sample: int
    """Which run it is, for a solver that deals them to several models; `GOLD` for the gold one."""
    hint: str | None
    """What only a teacher is told; None for an independent run."""

    def file(self, folder: Path) -> Path:
        """Where the run is kept when it is finished."""
        key = json.dumps([*self.instance.key, self.hint or ""])
        name = sha256(key.encode("utf-8", "replace")).hexdigest()[:16]
        return folder / name / ("gold.json" if self.sample == GOLD else f"run-{self.sample}.json")

    def begun_file(self, folder: Path) -> Path:
        """Where it is kept until then."""
        return self.file(folder).with_suffix(".begun.json")


class SolveRun(Protocol):
    """Answers a whole script."""

    async def __call__(self, want: WantedRun, *, begun: SolverRun | None, keep: Keep) -> SolverRun:
        """One run from the first question to the end, or to where the solver gives up.

        Args:
            want: The script, its seed and clock, the hint, and which run it is.
            begun: What was kept of it before something stopped it.
            keep: Told the run as it stands after each answer.
        """
        ...


@dataclass(frozen=True)
class Solver:
    """Who can be asked for runs."""

    open: Callable[[], AbstractAsyncContextManager[SolveRun]]
    """Opens what answers, such as connections to models, for as long as it is asked."""
    abreast: int = ABREAST
    """Runs that are under way at the same time."""


def wanted(instance: Instance, runs: int, *, gold: bool) -> list[WantedRun]:
    """The runs of an instance to ask for: `runs` without the hint, and one with it if `gold`."""
    extras = instance.attempts[0].extras if instance.attempts else {}
    hint = hint_of(instance.source, extras)
    teacher = [WantedRun(instance, GOLD, hint)] if gold else []
    return teacher + [WantedRun(instance, sample, None) for sample in range(1, runs + 1)]


def finished(instance: Instance, folder: Path) -> list[SolverRun]:
    """All runs of an instance that were asked for at any time and came to their end.

    Raises:
        EpisodeError: A kept run cannot be read.
    """
    [gold, independent] = wanted(instance, 1, gold=True)
    files = {GOLD: gold.file(folder)}
    for file in independent.file(folder).parent.glob("run-*.json"):
        if (match := _RUN.fullmatch(file.name)) is not None:
            files[int(match[1])] = file
    found = ((sample, stored_run(file)) for sample, file in sorted(files.items()))
    return [replace(run, sample=sample) for sample, run in found if run is not None]


def runs_folder(output: Path) -> Path:
    """Where the runs asked for an episodes file are kept."""
    return output.parent / f"{output.name}.runs"


async def ask(
    todo: Sequence[WantedRun],
    solve_run: SolveRun,
    folder: Path,
    advanced: Callable[[int, int], None] = lambda done, answers: None,
    abreast: int = ABREAST,
) -> list[SolverRun]:
    """All runs, those on disk read and the others asked for, in the order of `todo`.

    Args:
        todo: The runs.
        solve_run: Who answers.
        folder: Where the runs are kept.
        advanced: Told how many runs are finished, and how many answers were given meanwhile.
        abreast: Runs that are under way at the same time.

    Raises:
        EpisodeError: A kept run cannot be read, or a run could not be made; finished ones stay.
    """
    room, done, answers = asyncio.Semaphore(abreast), 0, 0

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
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EpisodeError(f"cannot write: {error.strerror}", where=str(file)) from None
    write_text(file, json.dumps(asdict(run)) + "\n")


def stored_run(file: Path) -> SolverRun | None:
    """The run that a file keeps; None if there is none yet.

    Raises:
        EpisodeError: The file is there but holds no run.
    """
    try:
        data = json.loads(file.read_bytes())
        turns = tuple(Turn(**turn) for turn in data.pop("turns"))
        rejected = tuple((at, Turn(**turn), said) for at, turn, said in data.pop("rejected"))
        run = SolverRun(**data, turns=turns, rejected=rejected)
        if not all(isinstance(turn.answer, str) for turn in turns):
            raise ValueError("an answer is no text")
        return run
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, QuizlogError) as error:
        hint = "remove it, and the run is asked for again"
        raise EpisodeError(f"holds no run: {error}", where=str(file), hint=hint) from None
