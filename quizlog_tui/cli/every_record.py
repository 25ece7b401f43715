"""What the commands share that judge all records of a folder: `verify --all` and `check`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ..errors import QuizlogError, UsageError
from ..proof.verdict import Verdict
from ..record.summary import find_records
from ..replay.uncached_runs import UncachedRuns

UNREADABLE = "unreadable"
"""What stands in the place of a verdict on a record that cannot be read."""

T = TypeVar("T")


def records_below(folder: Path) -> list[Path]:
    """The records below a folder.

    Raises:
        UsageError: It is no folder, or holds none.
    """
    if not folder.is_dir():
        raise UsageError("is not a folder", where=str(folder), hint="name a folder of records")
    paths = list(find_records(folder))
    if not paths:
        raise UsageError("holds no records", where=str(folder), hint="make one: `quizlog new`")
    return paths


def side_by_side(
    judge: Callable[[Path, UncachedRuns], T], paths: Sequence[Path], worlds: int
) -> Iterator[tuple[Path, T | QuizlogError]]:
    """The judgements on records in the order of their paths, or why there is none.

    Args:
        judge: Judges a record by these runs; called in threads.
        paths: The records.
        worlds: The number of worlds in which it holds a run at a time.
    """
    runs = UncachedRuns()

    def judged(path: Path) -> T | QuizlogError:
        try:
            return judge(path, runs)
        except QuizlogError as error:
            return error

    yield from zip(paths, runs.run_parallel(judged, paths, runs.at_once(worlds)), strict=True)


def counted(counts: Mapping[str, int]) -> str:
    """Counts with their names, in the order of the names."""
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def exit_code(verdicts: Sequence[Verdict | QuizlogError]) -> int:
    """3 for a difference, 2 for an unreadable record, 4 if one cannot be judged, else 0."""
    if any(isinstance(one, Verdict) and one.differs for one in verdicts):
        return 3
    if any(isinstance(one, QuizlogError) for one in verdicts):
        return 2
    return 4 if any(getattr(one, "verdict", "") == "unverifiable" for one in verdicts) else 0
