"""The checker's rules: what must agree between the fields of an episode.

Each rule is a function that takes an episode of the right structure and yields findings. Rules for
quizlog's own lines apply only to lines that name quizlog as their writer. Rules run on every line
of files of any size, so they test the usual case first, and build paths only for findings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...replay.script.input_kinds import JSON, NUMBER, TEXT
from ..rewards import matches
from .hashing import parsed_hash, question_id
from .identity import episode_id
from .migrations import misread_hooks, says_quizlog
from .triangulate import reasons_against, standing, triangulate

if TYPE_CHECKING:
    from .schema import Episode, ExecutionTrace, Hook, Message, Question

GOLD = "teacher_gold_trace"
"""Path of the gold run."""
TALK = "conversation_for_sft.messages"
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


Rule = Callable[[View], Iterator[RuleFinding]]
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)
_NAMED = {"code_hash", "seed", "inputs"}
_TOLD = _NAMED | {"reconciled", "unverifiable"}
"""Required metadata of a gold run, because its id or `verified` depends on it."""


def run_path(index: int) -> str:
    """The path of the run at an index of `View.runs`."""
    return f"consistency_traces[{index - 1}]" if index else GOLD


def identity(view: View) -> Iterator[RuleFinding]:
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


def answers(view: View) -> Iterator[RuleFinding]:
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
                f"{run_path(index)}.final"
                if index < len(view.runs)
                else f"{_REWARD}.expected_final"
            )
            yield RuleFinding(f"{where}_answer_hash", *wrong)
        else:
            sound = value, found, type(value)
    if copied["expected_final_answer_hash"] != view.gold["final_answer_hash"]:
        path = f"{_REWARD}.expected_final_answer_hash"
        yield RuleFinding(path, "rl-differs", "differs from the gold run's")


def last_word(view: View) -> Iterator[RuleFinding]:
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
        where, message = f"{TALK}[{len(messages) - 1}].content", "does not give the final answer"
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


def agreement(view: View) -> Iterator[RuleFinding]:
    """Counts, majority and `verified` follow from the runs."""
    found = triangulate(view.answers[0], view.answers[1:])
    expected = found.to_dict()
    recorded: Mapping[str, object] = view.episode["triangulation_metadata"]
    if recorded != expected:
        for key, value in expected.items():
            if recorded[key] != value:
                message = f"is {recorded[key]!r}, but the runs give {value!r}"
                yield RuleFinding(f"triangulation_metadata.{key}", "triangulation", message)
    against = reasons_against(found, standing(view.gold))
    if view.episode["verified"] and against:
        yield RuleFinding("verified", "guarantee", f"cannot be true: {'; '.join(against)}")
    elif not view.episode["verified"] and not against and view.ours:
        yield RuleFinding("verified", "guarantee", "is false although all guarantees hold")


def hooks(view: View) -> Iterator[RuleFinding]:
    """Names of hooks are unique, and dependencies name hooks that came before."""
    for index, run in enumerate(view.runs):
        before: str | None = None
        known: set[str] = set()
        for hook in run["hooks"]:
            name = hook["variable_name"]
            if hook["depends_on"] != ([before] if known else []) or name in known or name is None:
                yield from _tangled(run["hooks"], run_path(index))
                break  # not the plain chain that quizlog writes
            known.add(name)
            before = name


def readings(view: View) -> Iterator[RuleFinding]:
    """Values are what the answers' texts say: `3.10` is not 3.1 unless a number is asked for."""
    for index, run in enumerate(view.runs):
        for hook, value in misread_hooks(run):
            number = next(n for n, each in enumerate(run["hooks"]) if each is hook)
            message = (
                f"is not the hash of the answer given, {value!r:.60}; `episodes upgrade` mends it"
            )
            where = f"{run_path(index)}.hooks[{number}].value_hash"
            yield RuleFinding(where, "answer-read", message)


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


def dialogue(view: View) -> Iterator[RuleFinding]:
    """User and assistant alternate, the user first, the assistant last."""
    roles = view.roles
    if roles and roles == ["user", "assistant"] * (len(roles) // 2):
        return
    if not roles:
        yield RuleFinding(TALK, "messages-empty", "there is no message")
    for index, role in enumerate(roles):
        expected = "assistant" if index % 2 else "user"
        if role != expected:
            text = f"is {role!r} where {expected!r} must speak"
            yield RuleFinding(f"{TALK}[{index}].role", "roles", text)
            return
    if roles:
        yield RuleFinding(
            f"{TALK}[{len(roles) - 1}].role", "roles", "the assistant must speak last"
        )


def turns(view: View) -> Iterator[RuleFinding]:
    """The turns are those in the conversation plus the archived ones; quizlog counts them all."""
    total, archived = view.gold["total_turns"], view.gold["archived_turn_count"]
    said = view.roles.count("assistant")
    if not total:
        yield RuleFinding(f"{GOLD}.total_turns", "turns-unknown", "is 0", warning=not view.ours)
    elif total - archived != said:
        message = f"total_turns - archived_turn_count is not the {said} assistant messages"
        yield RuleFinding(f"{GOLD}.archived_turn_count", "turns", message)


def runs(view: View) -> Iterator[RuleFinding]:
    """A run has an answer exactly if it succeeded, and no more archived turns than turns."""
    for index, run in enumerate(view.runs):
        if run["execution_success"] is (run["final_answer"] is None):
            message = f"is {run['execution_success']}, against its final answer"
            yield RuleFinding(f"{run_path(index)}.execution_success", "success", message)
        if run["archived_turn_count"] > run["total_turns"]:
            where = f"{run_path(index)}.archived_turn_count"
            yield RuleFinding(where, "turns", "is more than total_turns")


def own(view: View) -> Iterator[RuleFinding]:
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
        yield RuleFinding(f"{TALK}[0].content", "first-message", "is not the question")
    steps = view.question["n_steps"]
    if not len(kept) == len(gold["code_cells"]) == steps:
        message = f"hooks and code_cells are not n_steps, {steps}"
        yield RuleFinding(f"{GOLD}.hooks", "steps", message)


RULES: tuple[Rule, ...] = (
    identity,
    answers,
    agreement,
    hooks,
    readings,
    dialogue,
    last_word,
    turns,
    runs,
    own,
)
"""All rules that find errors; some find warnings too."""
