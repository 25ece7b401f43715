"""Collects all runs of a script instance from records and their decisions.

Nothing is replayed. Records with the same script, data files and seed belong to one instance,
whatever the names and places of their files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import EpisodeError
from ...record.branches import BranchEnd, switched
from ...record.model import Record
from ...record.store import RecordFile
from ...replay.script.granted import granted_script_of
from ...replay.script.source import Source, read_source
from ...solver.decisions.decision_file import decisions_path, read_decisions
from ..build.trace import script_name
from .decision_runs import gold_run, own_runs, taken
from .declarations import is_gold
from .runs import SolverRun, Turn
from .scripts import data_hash


@dataclass(frozen=True)
class RecordAttempt:
    """A record's own run."""

    path: Path
    """The record."""
    record: Record
    run: SolverRun
    """The answers of its active branch, or of the named one."""
    models: tuple[SolverRun, ...] = ()
    """The own run of each model, if models decided its answers."""

    @property
    def extras(self) -> Mapping[str, object]:
        """The record's extensions."""
        return self.record.extras

    def gold_key(self) -> tuple[bool, str, str, int, str, str]:
        """Sort key for choosing the reference: declared gold first, then the earliest."""
        begun = self.extras.get("start_time")
        return (not is_gold(self.extras), str(begun or "~"), *self.run.sort_key())


@dataclass(frozen=True)
class Instance:
    """A script with a seed, and all runs of it."""

    source: Source
    seed: int
    attempts: tuple[RecordAttempt, ...]
    """The records' runs, in the order of `gold_key`, each run once."""
    solved: tuple[SolverRun, ...] = field(default=())
    """Runs that were requested from models."""
    data: str = ""
    """A hash of the files that the script mentions; empty if there are none."""

    @property
    def start_time(self) -> str | None:
        """The start of the clocks in further runs: that of the first record's run."""
        return self.attempts[0].run.start_time if self.attempts else None

    @property
    def key(self) -> tuple[str, int]:
        """Identifies the instance: the hash of the script and its data files, and the seed."""
        return self.source.code_hash + self.data, self.seed


def attempt(path: Path, branch: str | None = None) -> RecordAttempt:
    """A record's run: all answers of a branch, by default the active one.

    Raises:
        RecordError: The record cannot be read.
        DecisionError: Its decisions cannot be read.
        EpisodeError: The script had arguments, which an episode does not hold.
        UsageError: There is no such branch, or it is deleted.
    """
    record = RecordFile(path).read()
    if record.args:
        hint = "leave it out, or let the script ask for what its arguments say"
        message = "an episode cannot tell of the script's arguments (`args`)"
        raise EpisodeError(message, where=str(path), hint=hint)
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
    for fault in kept.faults:  # an unreadable decision could make an answer a model's
        raise fault
    decisions = taken(kept.decisions, record)
    models = tuple(own_runs(decisions, run))
    return RecordAttempt(path, record, gold_run(run, decisions), models)


def _at_its_end(record: Record) -> BranchEnd:
    """The state at the end of the active branch, if the pointer is there."""
    known = record.pointer == len(record.inputs)
    return BranchEnd(record.status, record.score) if known else BranchEnd()


def _rejected(record: Record) -> Iterator[tuple[int, Turn, str]]:
    """Answers at steps of the active branch that raised, from the other branches."""
    inputs = record.inputs
    for name, branch in record.branches.items():
        if name == record.branch or branch.status != "error":
            continue
        path = record.path_of(name)
        at = len(path) - 1
        if 0 <= at < len(inputs) and inputs.starts_with(path[:at]) and path[at] != inputs[at]:
            yield at, Turn(path[at]), ""


def instances(attempts: Sequence[RecordAttempt]) -> list[Instance]:
    """Group attempts by script, data files and seed, independent of their order.

    Raises:
        ScriptError: A script cannot be read.
    """
    groups: dict[tuple[str, int], tuple[Instance, list[RecordAttempt]]] = {}
    known: dict[Path, Instance] = {}
    by_script: dict[Path, list[RecordAttempt]] = defaultdict(list)
    for each in attempts:
        by_script[each.path.parent / each.record.script].append(each)
    for each in sorted(attempts, key=RecordAttempt.gold_key):
        path = each.path.parent / each.record.script
        if path not in known:
            source = _least_granted(path, by_script[path])
            known[path] = Instance(source, 0, (), data=data_hash(source))
        alone = replace(known[path], seed=each.record.seed)
        groups.setdefault(alone.key, (alone, []))[1].append(each)
    return [
        replace(
            alone, attempts=tuple(sorted(without_duplicates(found), key=RecordAttempt.gold_key))
        )
        for _, (alone, found) in sorted(groups.items())
    ]


def _least_granted(script: Path, attempts: Sequence[RecordAttempt]) -> Source:
    """A script with what is granted to it for all records that are to be replayed with it."""
    source = read_source(script)
    if not source.asked:
        return source
    found = (granted_script_of(each.path, each.record) for each in attempts)
    return min(found, key=lambda one: len(one.granted))


def without_duplicates(attempts: Sequence[RecordAttempt]) -> Iterator[RecordAttempt]:
    """The attempts without copies: the same file, or the same run in another file.

    Copies of one execution may have different numbers of answers: the declared gold one is kept,
    else the longest. In files without an execution id, equal answers with an equal start time are
    one run.
    """
    seen: set[Hashable] = set()
    for each in sorted(attempts, key=_copy_key):
        answered = (each.run.inputs, each.run.start_time)
        names = {each.path.resolve(), each.run.run_id or ("nameless", answered)}
        if not seen & {*names, ("nameless" if each.run.run_id else "any", answered)}:
            yield each
        seen |= {*names, ("any", answered)}


def _copy_key(each: RecordAttempt) -> tuple[bool | int | str, ...]:
    return (not is_gold(each.extras), -len(each.run.turns), *each.gold_key())
