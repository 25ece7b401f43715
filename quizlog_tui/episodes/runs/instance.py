"""All runs of one script instance: the records that answer it, and what their models said.

Reads records and decisions; replays nothing. Records whose script, data and seed are the same are
one instance, whatever their files are called and wherever they lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...record.branches import BranchEnd, switched
from ...record.model import Record
from ...record.store import RecordFile
from ...replay.script.source import Source, read_source
from ...solver.decisions.decision_file import decisions_path, read_decisions
from ..build.trace import script_name
from .decided import gold_run, own_runs, taken
from .declared import is_gold
from .runs import SolverRun, Turn
from .scripts import data_hash


@dataclass(frozen=True)
class RecordAttempt:
    """A record's own run."""

    path: Path
    """The record."""
    record: Record
    run: SolverRun
    """Its active branch, or the one that was named."""
    models: tuple[SolverRun, ...] = ()
    """What each model answered by itself, where models decided its answers."""

    @property
    def extras(self) -> Mapping[str, Any]:
        """The record's extensions."""
        return self.record.extras

    def gold_key(self) -> tuple[Any, ...]:
        """Which run is the reference, least first: declared, then begun first; never by answer."""
        begun = self.extras.get("start_time")
        return (not is_gold(self.extras), str(begun or "~"), *self.run.sort_key())


@dataclass(frozen=True)
class Instance:
    """One script with one seed, and all that answered it."""

    source: Source
    seed: int
    attempts: tuple[RecordAttempt, ...]
    """The records' runs, in the order of `gold_key`, each run once."""
    solved: tuple[SolverRun, ...] = field(default=())
    """Runs that were asked for: the models' own."""
    data: str = ""
    """A hash of the files that the script mentions; empty where there are none."""

    @property
    def start_time(self) -> str | None:
        """Where the clocks start for who answers it next: where they did for the first record."""
        return self.attempts[0].run.start_time if self.attempts else None

    @property
    def key(self) -> tuple[str, int]:
        """Script, with the files it mentions, and seed: what makes it an instance."""
        return self.source.code_hash + self.data, self.seed


def attempt(path: Path, branch: str | None = None) -> RecordAttempt:
    """A record's own run: all answers of a branch, the active one if none is named.

    Raises:
        RecordError: The record cannot be read.
        DecisionError: Its decisions cannot be read.
        UsageError: There is no such branch, or it is deleted.
    """
    record = RecordFile(path).read()
    if branch is not None:
        record = switched(record, branch, _at_its_end(record))
    run_id, start_time = (record.extras.get(name) for name in ("execution_id", "start_time"))
    run = SolverRun(
        name=script_name(path),
        turns=tuple(Turn(answer) for answer in record.inputs),
        rejected=tuple(_rejected(record)),
        run_id=run_id if isinstance(run_id, str) else None,
        start_time=start_time if isinstance(start_time, str) else None,
    )
    kept = read_decisions(decisions_path(path))
    for fault in kept.faults:  # what a lost line says might be that an answer was not its own
        raise fault
    decisions = taken(kept.decisions, record)
    models = tuple(own_runs(decisions, run))
    return RecordAttempt(path, record, gold_run(run, decisions), models)


def _at_its_end(record: Record) -> BranchEnd:
    """How the active branch stood at its last answer, where the pointer still is there."""
    known = record.pointer == len(record.inputs)
    return BranchEnd(record.status, record.score) if known else BranchEnd()


def _rejected(record: Record) -> Iterator[tuple[int, Turn, str]]:
    """Answers on the way of the active branch that raised, as the other branches keep them."""
    inputs = record.inputs
    for name, branch in record.branches.items():
        if name == record.branch or branch.status != "error":
            continue
        path = record.path_of(name)
        at = len(path) - 1
        if 0 <= at < len(inputs) and inputs.starts_with(path[:at]) and path[at] != inputs[at]:
            yield at, Turn(path[at]), ""


def instances(attempts: Sequence[RecordAttempt]) -> list[Instance]:
    """The attempts by script, data and seed; the order they come in makes no difference.

    Raises:
        ScriptError: A script cannot be read.
    """
    groups: dict[tuple[str, int], tuple[Instance, list[RecordAttempt]]] = {}
    known: dict[Path, Instance] = {}
    for one in sorted(attempts, key=RecordAttempt.gold_key):
        path = one.path.parent / one.record.script
        if path not in known:
            source = read_source(path)
            known[path] = Instance(source, 0, (), data=data_hash(source))
        alone = replace(known[path], seed=one.record.seed)
        groups.setdefault(alone.key, (alone, []))[1].append(one)
    return [
        replace(alone, attempts=tuple(sorted(each_once(found), key=RecordAttempt.gold_key)))
        for _, (alone, found) in sorted(groups.items())
    ]


def each_once(attempts: Sequence[RecordAttempt]) -> Iterator[RecordAttempt]:
    """Without copies: the same file again, or the same run in another file.

    An execution is one run, however far its copies were answered: the one named gold stays, else
    the one that came furthest. Where a file names no execution, the same answers begun at the same
    time are one run.
    """
    seen: set[Any] = set()
    for one in sorted(attempts, key=_copy_key):
        answered = (one.run.inputs, one.run.start_time)
        names = {one.path.resolve(), one.run.run_id or ("nameless", answered)}
        if not seen & {*names, ("nameless" if one.run.run_id else "any", answered)}:
            yield one
        seen |= {*names, ("any", answered)}


def _copy_key(one: RecordAttempt) -> tuple[Any, ...]:
    return (not is_gold(one.extras), -len(one.run.turns), *one.gold_key())
