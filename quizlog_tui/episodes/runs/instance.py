"""Collects all runs of a script instance from records and their decisions. Nothing is replayed.

Records with the same script, data files and seed belong to one instance, whatever the names and
places of their files.

Every model of a decision counts as a separate solver. Its run consists of the answers it gave
before it saw others'. The run ends with the first answer that was not taken, because after it the
model was shown others' answers, and where the model was told that an answer is wrong. Answers of a
reconciliation belong to no model. No model is asked here.

A script declares for training data by comments on separate lines: `#hint: add the numbers` and
`#difficulty: HARD`. A record does by `feedback` entries whose verdict is `hint` (the text is the
hint) or `gold` (this run is the reference).
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ...errors import EpisodeError
from ...files.paths import decisions_path
from ...record.branches import BranchEnd, switched
from ...record.model import Record
from ...record.store import RecordFile
from ...replay.script.granted import granted_script_of
from ...replay.script.needed_files import needed_files
from ...replay.script.source import Source, read_source
from ...solver.decision import Decision, ModelReply
from ...solver.decision_text import answer_text, read_decisions
from ...solver.voting.equality import answer_value
from ...solver.voting.vote import is_equal
from ...syntax import UNREADABLE, parse
from ..format.hashing import value_hash
from .runs import SolverRun, Turn, script_name

if TYPE_CHECKING:
    from ..format.schema import Difficulty


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
        return (not _is_gold(self.extras), str(begun or "~"), *self.run.sort_key())


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
            known[path] = Instance(source, 0, (), data=_data_hash(source))
        alone = replace(known[path], seed=each.record.seed)
        groups.setdefault(alone.key, (alone, []))[1].append(each)
    return [
        replace(
            alone, attempts=tuple(sorted(without_duplicates(found), key=RecordAttempt.gold_key))
        )
        for _, (alone, found) in sorted(groups.items())
    ]


def _data_hash(source: Source) -> str:
    """A hash of the files next to a script that it mentions; empty if there are none.

    The same script may ask other questions if it reads other data.
    """
    needed, folder = needed_files(source), source.path.parent
    found = sha256()
    for path in needed:
        digest = sha256(path.read_bytes()).hexdigest() if os.access(path, os.R_OK) else ""
        found.update(f"{path.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return f"+{found.hexdigest()[:16]}" if needed else ""


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
    return (not _is_gold(each.extras), -len(each.run.turns), *each.gold_key())


def taken(decisions: Sequence[Decision], record: Record) -> dict[int, Decision]:
    """The decisions that led to the record's answers, by the index of the question.

    An answer may have been typed differently, such as `[[2,0],[3,2]]` for `[[2, 0], [3, 2]]`.
    """
    shared = _shared(record)
    return {
        at: each
        for each in decisions
        if (at := each.question.pointer) is not None
        and 0 <= at < len(record.inputs)
        and at <= shared.get(each.question.branch or record.branch, -1)
        and _counts_as(each, each.verdict.answer, record.inputs[at])
    }


def _shared(record: Record) -> dict[str, int]:
    """The number of answers that the active branch shares with each of its ancestors."""
    name, shared = record.branch, len(record.inputs)
    found = {name: shared}
    while (entry := record.branches.get(name)) and entry.parent and entry.parent not in found:
        name, shared = entry.parent, min(shared, entry.at)
        found[name] = shared
    return found


def gold_run(run: SolverRun, decisions: Mapping[int, Decision]) -> SolverRun:
    """The record's run, with the code and explanation of a model that gave each answer."""
    turns = [
        _turn_of(decisions[index], turn) if index in decisions else turn
        for index, turn in enumerate(run.turns)
    ]
    reconciled = any(map(_after_others, decisions.values()))
    return replace(run, turns=tuple(turns), reconciled=reconciled)


def _after_others(decision: Decision) -> bool:
    return bool(decision.reconciliation)


def _text(decision: Decision, answer: object) -> str:
    """An answer as it was given to the script."""
    return answer_text(answer, decision.question)


def _turn_of(decision: Decision, turn: Turn) -> Turn:
    for reply in _by_rank(decision):
        answer = _own_answer(reply) if reply.name in decision.verdict.contributors else None
        if answer is not None and _counts_as(decision, answer, turn.answer):
            return Turn(turn.answer, reply.code, reply.explanation)
    return turn


def _by_rank(decision: Decision) -> list[ModelReply]:
    return sorted(decision.models, key=lambda each: (not each.primary, each.name))


def _own_answer(reply: ModelReply) -> object:
    """A model's own answer: the result of its code, else the one it claims."""
    if reply.executed is not None and reply.code:
        return reply.executed.answer if reply.executed.status == "ok" else None
    return reply.claimed if reply.status == "ok" else None


def own_runs(decisions: Mapping[int, Decision], run: SolverRun) -> list[SolverRun]:
    """The own run of each model that was asked the first question.

    The primary model's run is first, then they are sorted by name.
    """
    asked = _by_rank(decisions[0]) if 0 in decisions else []
    names = [reply.name for reply in asked]
    return [
        SolverRun(
            name,
            tuple(_own_turns(decisions, name)),
            sample=1,
            run_id=run.run_id,
            start_time=run.start_time,
        )
        for name in names
    ]


def _own_turns(decisions: Mapping[int, Decision], name: str) -> list[Turn]:
    turns: list[Turn] = []
    while len(turns) in decisions:
        decision = decisions[len(turns)]
        reply = next((each for each in decision.models if each.name == name), None)
        answer = _own_answer(reply) if reply else None
        if reply is None or answer is None or decision.refused:
            break
        turns.append(Turn(_text(decision, answer), reply.code, reply.explanation))
        if not _counts_as(decision, answer, _text(decision, decision.verdict.answer)):
            break
    return turns


def _counts_as(decision: Decision, answer: object, text: str) -> bool:
    """Whether the decision's vote counts an answer and the text given to the script as one.

    This only tells where an answer comes from; whether runs agree is told by hashes.
    """
    own = _text(decision, answer)
    return own == text or is_equal(own, text, decision.question)


def witnesses(models: Sequence[SolverRun], run: SolverRun) -> list[SolverRun]:
    """The models' own runs that are independent of the record's run.

    A model that answered every question like the record is the source of its answers. The first
    such model's run is the record's run itself, which cannot confirm itself; any further one is
    independent.
    """
    itself = next((each for each in models if _all_same(each, run)), None)
    return [each for each in models if each is not itself]


def _all_same(each: SolverRun, other: SolverRun) -> bool:
    own, others = ([value_hash(answer_value(text)) for text in run.inputs] for run in (each, other))
    return own == others


def is_repeated(run: SolverRun, models: Sequence[SolverRun]) -> bool:
    """Whether a run is a literal repetition of the run of one of these models.

    This is the case if recorded replies of the decision were played again.
    """
    said = any(turn.code or turn.explanation for turn in run.turns)
    return said and any((each.name, each.turns) == (run.name, run.turns) for each in models)


_HINT = re.compile(r"#\s*hint:\s*(\S.*)")
_DIFFICULTY = re.compile(r"#\s*difficulty:\s*(EASY|MEDIUM|HARD|VERY_HARD)\s*")
_BANDS: tuple[tuple[int, Difficulty], ...] = ((3, "EASY"), (6, "MEDIUM"), (8, "HARD"))


def hint_of(source: Source, extras: Mapping[str, object] | None = None) -> str | None:
    """The hint declared in the script, else the last one in the record's feedback, else None."""
    found = [match[1].strip() for match in _declared(source, _HINT)]
    if found:
        return "\n".join(found)
    texts = [item.get("text") for item in _feedback(extras or {}, "hint")]
    return next((text.strip() for text in reversed(texts) if isinstance(text, str)), None) or None


def _is_gold(extras: Mapping[str, object]) -> bool:
    """Whether the record's feedback declares it the reference."""
    return any(True for _ in _feedback(extras, "gold"))


def difficulty_of(source: Source, n_steps: int, *, derive: bool) -> Difficulty | None:
    """The declared difficulty, else the band of `n_steps` if `derive`: up to 3 EASY, 6, 8, more."""
    for match in _declared(source, _DIFFICULTY):
        return cast("Difficulty", match[1])
    if not derive:
        return None
    return next((name for most, name in _BANDS if n_steps <= most), "VERY_HARD")


def _declared(source: Source, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    if not pattern.search("\n".join(source.lines)):
        return  # finding comments takes time
    for number, comment in sorted(source.comments.items()):
        match = pattern.fullmatch(comment)
        if match and source.line(number).strip() == comment.strip():
            yield match


def _feedback(extras: Mapping[str, object], verdict: str) -> Iterator[Mapping[str, object]]:
    entries = extras.get("feedback")
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, Mapping) and entry.get("verdict") == verdict:
            yield entry


@lru_cache(maxsize=64)
def names_by_line(data: bytes) -> dict[int, str]:
    """The variable that each line of a script assigns to, if it is a simple name."""
    found: dict[int, str] = {}
    try:
        tree = parse(data)
    except UNREADABLE:
        return found
    for node in ast.walk(tree):  # outer statements come first, inner ones overwrite them
        target = _target(node)
        if isinstance(target, ast.Name):
            first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
            found.update(dict.fromkeys(range(first, last + 1), target.id))
    return found


def _target(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0]
    if isinstance(node, ast.AnnAssign | ast.NamedExpr):
        return node.target
    return None
