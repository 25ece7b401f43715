"""Checks an episodes file: every line against the schema, the rules, and the previous lines.

Memory use grows only by a few bytes per episode, to find duplicate ids.

Each rule is a function that takes an episode of the right structure and yields findings. Rules for
quizlog's own lines apply only to lines that name quizlog as their writer. Rules run on every line
of files of any size, so they test the usual case first, and build paths only for findings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from pydantic import ValidationError

from ...replay.script.input_kinds import JSON, NUMBER, TEXT
from ...solver.voting.equality import answer_value
from ..format.hashing import (
    episode_id,
    is_stamp,
    parsed_hash,
    question_id,
    seal_fits,
    sealed_as_is,
    stamp,
)
from ..format.schema import SHAPE
from ..format.triangulate import reasons_against, standing, triangulate
from ..rewards import matches, reading_kind
from .files import LineError, lines, parse

if TYPE_CHECKING:
    from ..format.hashing import JsonObject
    from ..format.schema import Episode, ExecutionTrace, Hook, Message, Question

_KEPT = 20_000
"""Maximum number of errors, and of warnings, in a report; the rest is only counted."""
_SHAPE = SHAPE.validator


class ReportedFinding(TypedDict):
    """A finding as the report states it."""

    line: int
    path: str
    code: str
    message: str


@dataclass
class _CheckReport:
    """The findings about a file."""

    lines: int = 0
    """Number of lines that are not blank."""
    verified: int = 0
    """Number of lines without errors whose `verified` is true."""
    errors: list[ReportedFinding] = field(default_factory=list)
    """The first errors: line, path, code, message."""
    warnings: list[ReportedFinding] = field(default_factory=list)
    """The first warnings, in the same form."""
    error_count: int = 0
    """Number of all errors."""
    warning_count: int = 0
    """Number of all warnings."""

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.error_count

    def add(self, line: int, finding: _RuleFinding) -> None:
        """Add a finding."""
        path, code, message, warning = finding
        found = self.warnings if warning else self.errors
        if warning:
            self.warning_count += 1
        else:
            self.error_count += 1
        if len(found) < _KEPT:
            found.append({"line": line, "path": path, "code": code, "message": message})

    def to_dict(self) -> dict[str, object]:
        """The report as printed by the command with `--json`."""
        return {"ok": self.ok} | vars(self)


def check_file(path: Path, advanced: Callable[[int], None] | None = None) -> _CheckReport:
    """Check a file; `advanced` gets the number of bytes read after each line.

    Raises:
        EpisodeError: The file cannot be read.
    """
    report, seen = _CheckReport(), SeenLines()
    for number, line in lines(path, advanced):
        report.lines += 1
        sound = True
        for finding in check_line(line, seen):
            sound = sound and finding.warning
            report.add(number, finding)
        report.verified += sound and seen.verified
    return report


class SeenLines:
    """Remembers two hashes of each previous line, about 150 bytes, to find repetitions.

    Two different values have the same hash with a probability of 2**-64.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self.verified = False
        """Whether the last line claims to be verified."""

    def look(self, view: _View) -> Iterator[_RuleFinding]:
        """Remember an episode, and yield what it repeats."""
        self.verified = view.episode["verified"]
        if self._repeats(view.episode["episode_id"]):
            yield _RuleFinding("episode_id", "duplicate-id", "is that of an earlier line too")
        code_hash, seed = str(view.metadata.get("code_hash")), str(view.metadata.get("seed"))
        answer = view.gold["final_answer_hash"]
        if self._repeats((view.question["id"], answer, code_hash, seed)):
            message = "an earlier line has this question and answer too"
            yield _RuleFinding("question.id", "duplicate-answer", message, warning=True)

    def _repeats(self, thing: Hashable) -> bool:
        """Whether a thing was there before; it is known from now on."""
        known = len(self._known)
        self._known.add(hash(thing))
        return len(self._known) == known


def check_line(line: bytes, seen: SeenLines | None = None) -> list[_RuleFinding]:
    """All findings about one line, errors first."""
    seen = seen or SeenLines()
    seen.verified = False
    found: list[_RuleFinding] = []
    episode = _quickly(line) or _thoroughly(line, found)
    if episode is None:
        return found
    view = _View(episode)
    for rule in _RULES:
        found += rule(view)
    found += seen.look(view)
    if len(line) > _LONG_LINE:
        message = f"is {len(line) / 2**20:.0f} MB long"
        found.append(_RuleFinding("", "long-line", message, warning=True))
    return sorted(found, key=_is_warning) if found else found


def _is_warning(finding: _RuleFinding) -> bool:
    return finding.warning


def _quickly(line: bytes) -> Episode | None:
    """The episode of a line that is unchanged since it was sealed; None for any other line.

    Quizlog wrote the bytes of such a line, so it has no duplicate keys and no infinite numbers. The
    seal is trusted for that only; all rules are still applied.
    """
    if not sealed_as_is(line):
        return None
    try:
        return cast("Episode", _SHAPE.validate_json(line))
    except ValidationError:
        return None


def _thoroughly(line: bytes, found: list[_RuleFinding]) -> Episode | None:
    """The episode of any line; None if its structure is wrong. Faults are added to `found`."""
    try:
        episode = parse(line)
    except LineError as error:
        found.append(_RuleFinding("", error.code, str(error)))
        return None
    shape = list(_shape(episode))
    found += shape
    if not all(map(_is_warning, shape)):
        return None
    sound = cast("Episode", episode)
    found += _seal(sound)
    return sound


def _seal(episode: Episode) -> Iterator[_RuleFinding]:
    """A sealed line is unchanged, and quizlog's own lines are sealed."""
    where, metadata = (
        f"{_GOLD}.submission_metadata.seal",
        episode["teacher_gold_trace"]["submission_metadata"],
    )
    if "seal" in metadata and not seal_fits(episode):
        yield _RuleFinding(where, "seal", "the line was changed since it was written")
    elif "seal" not in metadata and _says_quizlog(metadata):
        yield _RuleFinding(where, "seal", "is missing from a line that quizlog wrote")


def _shape(episode: JsonObject) -> Iterator[_RuleFinding]:
    try:
        _SHAPE.validate_python(episode)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            if fault["type"] == "extra_forbidden":
                message = "is not a key of the schema"
                yield _RuleFinding(_path(fault["loc"]), "extra-key", message, warning=True)
            else:
                yield _RuleFinding(_path(fault["loc"]), "schema", fault["msg"])


def _path(steps: tuple[int | str, ...]) -> str:
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(parts).removeprefix(".")


# -- the rules: what must agree in an episode, and what trainers are warned of


_GOLD = "teacher_gold_trace"
"""Path of the gold run."""
_TALK = "conversation_for_sft.messages"
"""Path of the conversation."""


class _RuleFinding(NamedTuple):
    """A fault or a warning."""

    path: str
    """The place in the episode, such as `teacher_gold_trace.hooks[2].depends_on`."""
    code: str
    """A short name of the rule."""
    message: str
    """What is wrong."""
    warning: bool = False
    """Whether the line is still usable."""


class _View:
    """An episode with the parts that rules need."""

    __slots__ = (
        "answers",
        "episode",
        "gold",
        "messages",
        "metadata",
        "ours",
        "question",
        "roles",
        "runs",
    )

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.question: Question = episode["question"]
        self.gold: ExecutionTrace = episode["teacher_gold_trace"]
        self.metadata: dict[str, object] = self.gold["submission_metadata"]
        """The gold run's metadata."""
        self.runs: list[ExecutionTrace] = [self.gold, *episode["consistency_traces"]]
        """Every run, gold first."""
        self.answers = [(run["final_answer_hash"], run["final_answer"]) for run in self.runs]
        self.messages: list[Message] = episode["conversation_for_sft"]["messages"]
        self.roles = [message["role"] for message in self.messages]
        self.ours = _says_quizlog(self.metadata)
        """Whether the line names quizlog as its writer."""


def _says_quizlog(metadata: Mapping[str, object]) -> bool:
    """Whether a run's metadata names quizlog as its writer."""
    return str(metadata.get("exporter", "")).startswith("quizlog ")


_Rule = Callable[[_View], Iterator[_RuleFinding]]
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)
_NAMED = {"code_hash", "seed", "inputs"}
_TOLD = _NAMED | {"reconciled", "unverifiable"}
"""Required metadata of a gold run, because its id or `verified` depends on it."""


def _run_path(index: int) -> str:
    """The path of the run at an index of `_View.runs`."""
    return f"consistency_traces[{index - 1}]" if index else _GOLD


def _identity(view: _View) -> Iterator[_RuleFinding]:
    """Ids follow from the question and the run."""
    question, found = view.question, view.episode["episode_id"]
    expected = question_id(question["question_text"], question["hint"])
    if question["id"] != expected:
        message = f"does not belong to this question and hint: {expected}"
        yield _RuleFinding("question.id", "question-id", message)
    match = _UUID.fullmatch(found)
    if match is None:
        yield _RuleFinding("episode_id", "episode-id", "is not a UUID")
    elif match[1] == "5" and view.ours and view.metadata.keys() >= _NAMED:
        try:
            expected = episode_id(question["id"], view.gold)
        except TypeError:
            expected = "its inputs are not texts"
        if found != expected:
            message = f"does not belong to this question and run: {expected}"
            yield _RuleFinding("episode_id", "episode-id", message)


def _answers(view: _View) -> Iterator[_RuleFinding]:
    """Hashes belong to their answers, and the RL data to the gold run."""
    copied = view.episode["rl_verification_data"]
    sound: tuple[object, str | None, type] = (None, None, type(None))
    last = copied["expected_final_answer_hash"], copied["expected_final_answer"]
    for index, (found, value) in enumerate((*view.answers, last)):
        if type(value) in _SCALARS and (value, found, type(value)) == sound:
            continue  # same as the previous one, which was right
        wrong = _hash_fault(value, found)
        if wrong:
            where = (
                f"{_run_path(index)}.final"
                if index < len(view.runs)
                else f"{_REWARD}.expected_final"
            )
            yield _RuleFinding(f"{where}_answer_hash", *wrong)
        else:
            sound = value, found, type(value)
    if copied["expected_final_answer_hash"] != view.gold["final_answer_hash"]:
        path = f"{_REWARD}.expected_final_answer_hash"
        yield _RuleFinding(path, "rl-differs", "differs from the gold run's")


def _last_word(view: _View) -> Iterator[_RuleFinding]:
    """The conversation ends with the gold answer; other writers may use another notation."""
    answer, messages = view.gold["final_answer"], view.messages
    if answer is None or not messages:
        return
    content = messages[-1]["content"]
    if content.strip() == (answer if type(answer) is str else repr(answer)):
        return
    expected = view.gold["final_answer_hash"] or ""
    if any(matches(content, expected, kind) for kind in (TEXT, NUMBER, JSON)):
        return
    if parsed_hash(content.strip()) == expected:
        return
    if view.ours or (str(answer) not in content and json.dumps(answer) not in content):
        where, message = f"{_TALK}[{len(messages) - 1}].content", "does not give the final answer"
        yield _RuleFinding(where, "answer-not-said", message, warning=not view.ours)


_SCALARS = {str, int, bool}
_REWARD = "rl_verification_data"


def _hash_fault(value: object, found: str | None) -> tuple[str, str] | None:
    """A code and a message if a hash is not its answer's."""
    if value is None or found is None:
        both = value is None and found is None
        return None if both else ("hash-null", "answer and hash must be null together")
    try:
        expected = parsed_hash(value)
    except RecursionError:
        return "too-deep", "cannot be made: the answer is nested too deep"
    except ValueError:
        return "not-finite", "cannot be made: the answer holds a number that JSON cannot hold"
    return None if found == expected else ("answer-hash", f"is not the answer's: {expected}")


def _agreement(view: _View) -> Iterator[_RuleFinding]:
    """Counts, majority and `verified` follow from the runs."""
    found = triangulate(view.answers[0], view.answers[1:])
    recorded: Mapping[str, object] = view.episode["triangulation_metadata"]
    if recorded != found:
        for key, value in found.items():
            if recorded[key] != value:
                message = f"is {recorded[key]!r}, but the runs give {value!r}"
                yield _RuleFinding(f"triangulation_metadata.{key}", "triangulation", message)
    against = reasons_against(found, standing(view.gold))
    if view.episode["verified"] and against:
        yield _RuleFinding("verified", "guarantee", f"cannot be true: {'; '.join(against)}")
    elif not view.episode["verified"] and not against and view.ours:
        yield _RuleFinding("verified", "guarantee", "is false although all guarantees hold")


def _hooks(view: _View) -> Iterator[_RuleFinding]:
    """Names of hooks are unique, and dependencies name hooks that came before."""
    for index, run in enumerate(view.runs):
        before: str | None = None
        known: set[str] = set()
        for hook in run["hooks"]:
            name = hook["variable_name"]
            if hook["depends_on"] != ([before] if known else []) or name in known or name is None:
                yield from _tangled(run["hooks"], _run_path(index))
                break  # not the plain chain that quizlog writes
            known.add(name)
            before = name


def _readings(view: _View) -> Iterator[_RuleFinding]:
    """Values are what the answers' texts say: `3.10` is not 3.1 unless a number is asked for."""
    for index, run in enumerate(view.runs):
        for number, value in _misread_hooks(run):
            message = f"is not the hash of the answer given, {value!r:.60}; build the episode again"
            where = f"{_run_path(index)}.hooks[{number}].value_hash"
            yield _RuleFinding(where, "answer-read", message)


def _misread_hooks(run: ExecutionTrace) -> Iterator[tuple[int, object]]:
    """The index of each hook of a run by quizlog that is not of the answer given, and that answer.

    That is the answer's text as its question reads it. A hash of the text itself is right too: then
    the answer was declared as text.
    """
    metadata = run["submission_metadata"]
    inputs = metadata.get("inputs") if _says_quizlog(metadata) else None
    if not isinstance(inputs, list):
        return
    for index, (text, hook) in enumerate(zip(inputs, run["hooks"], strict=False)):
        if isinstance(text, str):
            kind = reading_kind([hook])
            hashes = _answer_hashes if len(text) < _SHORT else _answer_hashes.__wrapped__
            if hook["value_hash"] not in hashes(text, kind):
                yield index, answer_value(text, kind)


_SHORT = 100
"""Answers with fewer characters are hashed once for many lines of a file."""


@lru_cache(maxsize=1000)
def _answer_hashes(text: str, kind: str) -> tuple[str, str]:
    """The hashes of an answer, as text and as value."""
    return parsed_hash(text.strip()), parsed_hash(answer_value(text, kind))


def _tangled(found: list[Hook], path: str) -> Iterator[_RuleFinding]:
    """The faults in hooks that are not a plain chain."""
    names = {hook["variable_name"] for hook in found}
    known: set[str | None] = set()
    for number, hook in enumerate(found):
        where, name = f"{path}.hooks[{number}]", hook["variable_name"]
        for needed in hook["depends_on"]:
            if needed not in known:
                what = "does not come before" if needed in names else "is not a hook of this run"
                yield _RuleFinding(f"{where}.depends_on", "depends-on", f"{needed!r} {what}")
        if name in known and name is not None:
            yield _RuleFinding(f"{where}.variable_name", "hook-name", f"{name!r} stands twice")
        known.add(name)


def _dialogue(view: _View) -> Iterator[_RuleFinding]:
    """User and assistant alternate, the user first, the assistant last."""
    roles = view.roles
    if roles and roles == ["user", "assistant"] * (len(roles) // 2):
        return
    if not roles:
        yield _RuleFinding(_TALK, "messages-empty", "there is no message")
    for index, role in enumerate(roles):
        expected = "assistant" if index % 2 else "user"
        if role != expected:
            text = f"is {role!r} where {expected!r} must speak"
            yield _RuleFinding(f"{_TALK}[{index}].role", "roles", text)
            return
    if roles:
        yield _RuleFinding(
            f"{_TALK}[{len(roles) - 1}].role", "roles", "the assistant must speak last"
        )


def _turns(view: _View) -> Iterator[_RuleFinding]:
    """The turns are those in the conversation plus the archived ones; quizlog counts them all."""
    total, archived = view.gold["total_turns"], view.gold["archived_turn_count"]
    said = view.roles.count("assistant")
    if not total:
        yield _RuleFinding(f"{_GOLD}.total_turns", "turns-unknown", "is 0", warning=not view.ours)
    elif total - archived != said:
        message = f"total_turns - archived_turn_count is not the {said} assistant messages"
        yield _RuleFinding(f"{_GOLD}.archived_turn_count", "turns", message)


def _runs(view: _View) -> Iterator[_RuleFinding]:
    """A run has an answer exactly if it succeeded, and no more archived turns than turns."""
    for index, run in enumerate(view.runs):
        if run["execution_success"] is (run["final_answer"] is None):
            message = f"is {run['execution_success']}, against its final answer"
            yield _RuleFinding(f"{_run_path(index)}.execution_success", "success", message)
        if run["archived_turn_count"] > run["total_turns"]:
            where = f"{_run_path(index)}.archived_turn_count"
            yield _RuleFinding(where, "turns", "is more than total_turns")


def _own(view: _View) -> Iterator[_RuleFinding]:
    """What quizlog's own lines guarantee beyond the schema."""
    if not view.ours:
        message = "no provenance: reconciliation unknown"
        yield _RuleFinding(f"{_GOLD}.submission_metadata", "no-provenance", message, warning=True)
        return
    gold, messages = view.gold, view.messages
    if not _TOLD.issubset(view.metadata):
        for name in sorted(_TOLD - view.metadata.keys()):
            where = f"{_GOLD}.submission_metadata.{name}"
            yield _RuleFinding(where, "provenance", "is missing from a line that quizlog wrote")
    answer, kept = gold["final_answer_hash"], gold["hooks"]
    if kept and answer is not None and kept[-1]["value_hash"] != answer:
        where = f"{_GOLD}.hooks[{len(kept) - 1}].value_hash"
        yield _RuleFinding(where, "last-hook", "differs from the final answer's")
    if messages and messages[0]["content"] != view.question["question_text"]:
        yield _RuleFinding(f"{_TALK}[0].content", "first-message", "is not the question")
    steps = view.question["n_steps"]
    if not len(kept) == len(gold["code_cells"]) == steps:
        message = f"hooks and code_cells are not n_steps, {steps}"
        yield _RuleFinding(f"{_GOLD}.hooks", "steps", message)


_LONG_LINE = 4 * 1024 * 1024
"""Size in bytes from which a line gets a warning."""
_PORTABLE = 2**53


def _time(view: _View) -> Iterator[_RuleFinding]:
    """Times have the right notation; other ISO 8601 notations give a warning, the rest an error."""
    for path, text in (
        ("timestamp", view.episode["timestamp"]),
        ("question.created_at", view.question["created_at"]),
    ):
        if text is None or is_stamp(text):
            continue
        if stamp(text) is None:
            yield _RuleFinding(path, "timestamp", f"{text[:40]!r} is not a time")
        else:
            message = "is not of the form YYYY-MM-DDTHH:MM:SS.ffffff"
            yield _RuleFinding(path, "timestamp-form", message, warning=True)


def _hint(view: _View) -> Iterator[_RuleFinding]:
    """The student is not told the hint."""
    secret = (view.question["hint"] or "").strip()
    if not secret:
        return
    prompt = view.episode["conversation_for_sft"]["system_prompt"]
    texts = [("conversation_for_sft.system_prompt", prompt)]
    texts += [(f"{_TALK}[{n}].content", one["content"]) for n, one in enumerate(view.messages)]
    for path, text in texts:
        if secret in text:
            yield _RuleFinding(path, "hint-told", "holds the hint", warning=True)


def _cells(view: _View) -> Iterator[_RuleFinding]:
    """The code a solver wrote is in the conversation."""
    written, generated = view.gold["code_cells"], view.metadata.get("generated_cells")
    skipped = generated if isinstance(generated, list) else []
    if len(skipped) == len(written):
        return
    for index, cell in enumerate(written):
        if index not in skipped and not _is_said(cell.strip(), 2 * index + 1, view):
            path = f"{_GOLD}.code_cells[{index}]"
            yield _RuleFinding(path, "cell-not-said", "is not in the conversation", warning=True)


def _is_said(cell: str, usually_at: int, view: _View) -> bool:
    messages = view.messages
    if usually_at < len(messages) and cell in messages[usually_at]["content"]:
        return True
    return any(cell in message["content"] for message in messages)


def _numbers(view: _View) -> Iterator[_RuleFinding]:
    """Answers contain no integers that many readers round."""
    for index, run in enumerate(view.runs):
        answer = run["final_answer"]
        if type(answer) is not str and _beyond(answer):
            message = "holds an integer beyond 2**53, which many readers round"
            yield _RuleFinding(
                f"{_run_path(index)}.final_answer", "big-number", message, warning=True
            )


def _beyond(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) > _PORTABLE
    if isinstance(value, dict):
        return any(map(_beyond, value.values()))
    return isinstance(value, list) and any(map(_beyond, value))


_RULES: tuple[_Rule, ...] = (
    _identity,
    _answers,
    _agreement,
    _hooks,
    _readings,
    _dialogue,
    _last_word,
    _turns,
    _runs,
    _own,
    _time,
    _hint,
    _cells,
    _numbers,
)
"""All rules."""
