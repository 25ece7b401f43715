"""The checker's rules: what must agree in an episode, and what trainers are warned of.

Each rule is a function that takes an episode of the right structure and yields findings. Rules for
quizlog's own lines apply only to lines that name quizlog as their writer. Rules run on every line
of files of any size, so they test the usual case first, and build paths only for findings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ...replay.script.input_kinds import JSON, NUMBER, TEXT
from ...solver.voting.equality import answer_value
from ..rewards import matches, reading_kind
from .hashing import episode_id, is_stamp, parsed_hash, question_id, stamp
from .triangulate import reasons_against, standing, triangulate

if TYPE_CHECKING:
    from .schema import Episode, ExecutionTrace, Hook, Message, Question


GOLD = "teacher_gold_trace"
"""Path of the gold run."""
_TALK = "conversation_for_sft.messages"
"""Path of the conversation."""


class RuleFinding(NamedTuple):
    """A fault or a warning."""

    path: str
    """The place in the episode, such as `teacher_gold_trace.hooks[2].depends_on`."""
    code: str
    """A short name of the rule."""
    message: str
    """What is wrong."""
    warning: bool = False
    """Whether the line is still usable."""


class View:
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
        self.ours = says_quizlog(self.metadata)
        """Whether the line names quizlog as its writer."""


def says_quizlog(metadata: Mapping[str, object]) -> bool:
    """Whether a run's metadata names quizlog as its writer."""
    return str(metadata.get("exporter", "")).startswith("quizlog ")


_Rule = Callable[[View], Iterator[RuleFinding]]
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)
_NAMED = {"code_hash", "seed", "inputs"}
_TOLD = _NAMED | {"reconciled", "unverifiable"}
"""Required metadata of a gold run, because its id or `verified` depends on it."""


def _run_path(index: int) -> str:
    """The path of the run at an index of `View.runs`."""
    return f"consistency_traces[{index - 1}]" if index else GOLD


def _identity(view: View) -> Iterator[RuleFinding]:
    """Ids follow from the question and the run."""
    question, found = view.question, view.episode["episode_id"]
    expected = question_id(question["question_text"], question["hint"])
    if question["id"] != expected:
        message = f"does not belong to this question and hint: {expected}"
        yield RuleFinding("question.id", "question-id", message)
    match = _UUID.fullmatch(found)
    if match is None:
        yield RuleFinding("episode_id", "episode-id", "is not a UUID")
    elif match[1] == "5" and view.ours and view.metadata.keys() >= _NAMED:
        try:
            expected = episode_id(question["id"], view.gold)
        except TypeError:
            expected = "its inputs are not texts"
        if found != expected:
            message = f"does not belong to this question and run: {expected}"
            yield RuleFinding("episode_id", "episode-id", message)


def _answers(view: View) -> Iterator[RuleFinding]:
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
            yield RuleFinding(f"{where}_answer_hash", *wrong)
        else:
            sound = value, found, type(value)
    if copied["expected_final_answer_hash"] != view.gold["final_answer_hash"]:
        path = f"{_REWARD}.expected_final_answer_hash"
        yield RuleFinding(path, "rl-differs", "differs from the gold run's")


def _last_word(view: View) -> Iterator[RuleFinding]:
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
        yield RuleFinding(where, "answer-not-said", message, warning=not view.ours)


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


def _agreement(view: View) -> Iterator[RuleFinding]:
    """Counts, majority and `verified` follow from the runs."""
    found = triangulate(view.answers[0], view.answers[1:])
    recorded: Mapping[str, object] = view.episode["triangulation_metadata"]
    if recorded != found:
        for key, value in found.items():
            if recorded[key] != value:
                message = f"is {recorded[key]!r}, but the runs give {value!r}"
                yield RuleFinding(f"triangulation_metadata.{key}", "triangulation", message)
    against = reasons_against(found, standing(view.gold))
    if view.episode["verified"] and against:
        yield RuleFinding("verified", "guarantee", f"cannot be true: {'; '.join(against)}")
    elif not view.episode["verified"] and not against and view.ours:
        yield RuleFinding("verified", "guarantee", "is false although all guarantees hold")


def _hooks(view: View) -> Iterator[RuleFinding]:
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


def _readings(view: View) -> Iterator[RuleFinding]:
    """Values are what the answers' texts say: `3.10` is not 3.1 unless a number is asked for."""
    for index, run in enumerate(view.runs):
        for number, value in _misread_hooks(run):
            message = f"is not the hash of the answer given, {value!r:.60}; build the episode again"
            where = f"{_run_path(index)}.hooks[{number}].value_hash"
            yield RuleFinding(where, "answer-read", message)


def _misread_hooks(run: ExecutionTrace) -> Iterator[tuple[int, object]]:
    """The index of each hook of a run by quizlog that is not of the answer given, and that answer.

    That is the answer's text as its question reads it. A hash of the text itself is right too: then
    the answer was declared as text.
    """
    metadata = run["submission_metadata"]
    inputs = metadata.get("inputs") if says_quizlog(metadata) else None
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


def _tangled(found: list[Hook], path: str) -> Iterator[RuleFinding]:
    """The faults in hooks that are not a plain chain."""
    names = {hook["variable_name"] for hook in found}
    known: set[str | None] = set()
    for number, hook in enumerate(found):
        where, name = f"{path}.hooks[{number}]", hook["variable_name"]
        for needed in hook["depends_on"]:
            if needed not in known:
                what = "does not come before" if needed in names else "is not a hook of this run"
                yield RuleFinding(f"{where}.depends_on", "depends-on", f"{needed!r} {what}")
        if name in known and name is not None:
            yield RuleFinding(f"{where}.variable_name", "hook-name", f"{name!r} stands twice")
        known.add(name)


def _dialogue(view: View) -> Iterator[RuleFinding]:
    """User and assistant alternate, the user first, the assistant last."""
    roles = view.roles
    if roles and roles == ["user", "assistant"] * (len(roles) // 2):
        return
    if not roles:
        yield RuleFinding(_TALK, "messages-empty", "there is no message")
    for index, role in enumerate(roles):
        expected = "assistant" if index % 2 else "user"
        if role != expected:
            text = f"is {role!r} where {expected!r} must speak"
            yield RuleFinding(f"{_TALK}[{index}].role", "roles", text)
            return
    if roles:
        yield RuleFinding(
            f"{_TALK}[{len(roles) - 1}].role", "roles", "the assistant must speak last"
        )


def _turns(view: View) -> Iterator[RuleFinding]:
    """The turns are those in the conversation plus the archived ones; quizlog counts them all."""
    total, archived = view.gold["total_turns"], view.gold["archived_turn_count"]
    said = view.roles.count("assistant")
    if not total:
        yield RuleFinding(f"{GOLD}.total_turns", "turns-unknown", "is 0", warning=not view.ours)
    elif total - archived != said:
        message = f"total_turns - archived_turn_count is not the {said} assistant messages"
        yield RuleFinding(f"{GOLD}.archived_turn_count", "turns", message)


def _runs(view: View) -> Iterator[RuleFinding]:
    """A run has an answer exactly if it succeeded, and no more archived turns than turns."""
    for index, run in enumerate(view.runs):
        if run["execution_success"] is (run["final_answer"] is None):
            message = f"is {run['execution_success']}, against its final answer"
            yield RuleFinding(f"{_run_path(index)}.execution_success", "success", message)
        if run["archived_turn_count"] > run["total_turns"]:
            where = f"{_run_path(index)}.archived_turn_count"
            yield RuleFinding(where, "turns", "is more than total_turns")


def _own(view: View) -> Iterator[RuleFinding]:
    """What quizlog's own lines guarantee beyond the schema."""
    if not view.ours:
        message = "no provenance: reconciliation unknown"
        yield RuleFinding(f"{GOLD}.submission_metadata", "no-provenance", message, warning=True)
        return
    gold, messages = view.gold, view.messages
    if not _TOLD.issubset(view.metadata):
        for name in sorted(_TOLD - view.metadata.keys()):
            where = f"{GOLD}.submission_metadata.{name}"
            yield RuleFinding(where, "provenance", "is missing from a line that quizlog wrote")
    answer, kept = gold["final_answer_hash"], gold["hooks"]
    if kept and answer is not None and kept[-1]["value_hash"] != answer:
        where = f"{GOLD}.hooks[{len(kept) - 1}].value_hash"
        yield RuleFinding(where, "last-hook", "differs from the final answer's")
    if messages and messages[0]["content"] != view.question["question_text"]:
        yield RuleFinding(f"{_TALK}[0].content", "first-message", "is not the question")
    steps = view.question["n_steps"]
    if not len(kept) == len(gold["code_cells"]) == steps:
        message = f"hooks and code_cells are not n_steps, {steps}"
        yield RuleFinding(f"{GOLD}.hooks", "steps", message)


LONG_LINE = 4 * 1024 * 1024
"""Size in bytes from which a line gets a warning."""
_PORTABLE = 2**53


def _time(view: View) -> Iterator[RuleFinding]:
    """Times have the right notation; other ISO 8601 notations give a warning, the rest an error."""
    for path, text in (
        ("timestamp", view.episode["timestamp"]),
        ("question.created_at", view.question["created_at"]),
    ):
        if text is None or is_stamp(text):
            continue
        if stamp(text) is None:
            yield RuleFinding(path, "timestamp", f"{text[:40]!r} is not a time")
        else:
            message = "is not of the form YYYY-MM-DDTHH:MM:SS.ffffff"
            yield RuleFinding(path, "timestamp-form", message, warning=True)


def _hint(view: View) -> Iterator[RuleFinding]:
    """The student is not told the hint."""
    secret = (view.question["hint"] or "").strip()
    if not secret:
        return
    prompt = view.episode["conversation_for_sft"]["system_prompt"]
    texts = [("conversation_for_sft.system_prompt", prompt)]
    texts += [(f"{_TALK}[{n}].content", one["content"]) for n, one in enumerate(view.messages)]
    for path, text in texts:
        if secret in text:
            yield RuleFinding(path, "hint-told", "holds the hint", warning=True)


def _cells(view: View) -> Iterator[RuleFinding]:
    """The code a solver wrote is in the conversation."""
    written, generated = view.gold["code_cells"], view.metadata.get("generated_cells")
    skipped = generated if isinstance(generated, list) else []
    if len(skipped) == len(written):
        return
    for index, cell in enumerate(written):
        if index not in skipped and not _is_said(cell.strip(), 2 * index + 1, view):
            path = f"{GOLD}.code_cells[{index}]"
            yield RuleFinding(path, "cell-not-said", "is not in the conversation", warning=True)


def _is_said(cell: str, usually_at: int, view: View) -> bool:
    messages = view.messages
    if usually_at < len(messages) and cell in messages[usually_at]["content"]:
        return True
    return any(cell in message["content"] for message in messages)


def _numbers(view: View) -> Iterator[RuleFinding]:
    """Answers contain no integers that many readers round."""
    for index, run in enumerate(view.runs):
        answer = run["final_answer"]
        if type(answer) is not str and _beyond(answer):
            message = "holds an integer beyond 2**53, which many readers round"
            yield RuleFinding(
                f"{_run_path(index)}.final_answer", "big-number", message, warning=True
            )


def _beyond(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) > _PORTABLE
    if isinstance(value, dict):
        return any(map(_beyond, value.values()))
    return isinstance(value, list) and any(map(_beyond, value))


RULES: tuple[_Rule, ...] = (
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
