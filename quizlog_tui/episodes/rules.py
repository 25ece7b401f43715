"""What must agree between the fields of an episode: the checker's rules, as plain functions.

Each takes a well-shaped episode as plain data and yields findings. Rules that hold only for what
quizlog itself writes are asked only of lines that say they were written by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from uuid import UUID

from .hashing import MAX_DEPTH, parsed_hash, question_id
from .identity import episode_id
from .lines import seal_holds
from .matching import matcher_from
from .triangulate import reasons_against, triangulate


class Finding(NamedTuple):
    """One thing that is wrong, or worth knowing."""

    path: str
    """Where in the episode: `teacher_gold_trace.hooks[2].depends_on`."""
    code: str
    """A short name of the rule."""
    message: str
    """What is wrong."""
    warning: bool = False
    """Whether the line is usable all the same."""


Data = dict[str, Any]
Rule = Callable[[Data], Iterator[Finding]]
_GOLD = "teacher_gold_trace"


def by_quizlog(episode: Data) -> bool:
    """Whether the line says that quizlog wrote it."""
    return str(episode[_GOLD]["submission_metadata"].get("exporter", "")).startswith("quizlog ")


def traces(episode: Data) -> Iterator[tuple[str, Data]]:
    """Every run with its path, gold first."""
    yield _GOLD, episode[_GOLD]
    for index, trace in enumerate(episode["consistency_traces"]):
        yield f"consistency_traces[{index}]", trace


def identity(episode: Data) -> Iterator[Finding]:
    """Ids are what they must be."""
    question = episode["question"]
    expected = question_id(question["question_text"], question["hint"])
    if question["id"] != expected:
        message = f"does not belong to this question and hint: {expected}"
        yield Finding("question.id", "question-id", message)
    try:
        version = UUID(episode["episode_id"]).version
    except ValueError:
        yield Finding("episode_id", "episode-id", "is no UUID")
        return
    told = episode[_GOLD]["submission_metadata"]
    if version == 5 and by_quizlog(episode) and {"code_hash", "seed", "inputs"} <= told.keys():
        expected = episode_id(question["id"], episode[_GOLD])
        if episode["episode_id"] != expected:
            message = f"does not belong to this question and run: {expected}"
            yield Finding("episode_id", "episode-id", message)


def answers(episode: Data) -> Iterator[Finding]:
    """Hashes belong to their answers, and the RL data to the gold run."""
    for path, trace in traces(episode):
        yield from _answer_hash(trace, path, "final_answer")
    gold, copied = episode[_GOLD], episode["rl_verification_data"]
    yield from _answer_hash(copied, "rl_verification_data", "expected_final_answer")
    if copied["expected_final_answer_hash"] != gold["final_answer_hash"]:
        path = "rl_verification_data.expected_final_answer_hash"
        yield Finding(path, "rl-differs", "differs from the gold run's")


def _answer_hash(holder: Data, path: str, name: str) -> Iterator[Finding]:
    value, found = holder[name], holder[f"{name}_hash"]
    if (value is None) != (found is None):
        yield Finding(f"{path}.{name}_hash", "hash-null", "answer and hash must be null together")
    elif value is not None:
        try:
            expected = parsed_hash(value)
        except RecursionError:
            yield Finding(f"{path}.{name}", "too-deep", f"is nested deeper than {MAX_DEPTH}")
            return
        if expected != found:
            message = f"does not belong to the answer: {expected}"
            yield Finding(f"{path}.{name}_hash", "answer-hash", message)


def agreement(episode: Data) -> Iterator[Finding]:
    """Counts, majority and `verified` are what follows from the runs."""
    gold, told = episode[_GOLD], episode[_GOLD]["submission_metadata"]
    try:
        matcher = matcher_from(told.get("matcher"))
    except ValueError as error:
        yield Finding(f"{_GOLD}.submission_metadata.matcher", "matcher", str(error))
        return
    pairs = [(one["final_answer_hash"], one["final_answer"]) for _, one in traces(episode)]
    found = triangulate(pairs[0], pairs[1:], matcher)
    for key, value in found.to_dict().items():
        is_now = episode["triangulation_metadata"][key]
        if is_now != value:
            message = f"is {is_now!r}, but the runs give {value!r}"
            yield Finding(f"triangulation_metadata.{key}", "triangulation", message)
    reconciled = bool(told.get("reconciled"))
    against = reasons_against(found, success=gold["execution_success"], reconciled=reconciled)
    if episode["verified"] and against:
        yield Finding("verified", "guarantee", f"cannot be true: {'; '.join(against)}")
    elif not episode["verified"] and not against and by_quizlog(episode):
        yield Finding("verified", "guarantee", "is false although all guarantees hold")


def hooks(episode: Data) -> Iterator[Finding]:
    """Names of hooks are unique, and dependencies name hooks that came before."""
    for path, trace in traces(episode):
        names = {hook["variable_name"] for hook in trace["hooks"]}
        known: set[str] = set()
        for index, hook in enumerate(trace["hooks"]):
            where = f"{path}.hooks[{index}]"
            for name in hook["depends_on"]:
                if name not in known:
                    what = "does not come before" if name in names else "is no hook of this run"
                    message = f"{name!r} {what}"
                    yield Finding(f"{where}.depends_on", "depends-on", message)
            name = hook["variable_name"]
            if name is not None and name in known:
                yield Finding(f"{where}.variable_name", "hook-name", f"{name!r} stands twice")
            if name is not None:
                known.add(name)


def dialogue(episode: Data) -> Iterator[Finding]:
    """User and assistant speak in turn, the user first, the assistant last."""
    messages = episode["conversation_for_sft"]["messages"]
    path = "conversation_for_sft.messages"
    if not messages:
        yield Finding(path, "messages-empty", "there is no message")
        return
    for index, message in enumerate(messages):
        role = "assistant" if index % 2 else "user"
        if message["role"] != role:
            text = f"is {message['role']!r} where {role!r} must speak"
            yield Finding(f"{path}[{index}].role", "roles", text)
            return
    if len(messages) % 2:
        yield Finding(f"{path}[{len(messages) - 1}].role", "roles", "the assistant must speak last")


def turns(episode: Data) -> Iterator[Finding]:
    """Turns are those in the conversation and those archived."""
    gold = episode[_GOLD]
    messages = episode["conversation_for_sft"]["messages"]
    said = sum(message["role"] == "assistant" for message in messages)
    if not gold["total_turns"]:
        yield Finding(f"{_GOLD}.total_turns", "turns-unknown", "is 0", warning=True)
    elif gold["total_turns"] - gold["archived_turn_count"] != said:
        message = f"total_turns - archived_turn_count is not the {said} assistant messages"
        yield Finding(f"{_GOLD}.archived_turn_count", "turns", message)
    for path, trace in traces(episode):
        if trace["archived_turn_count"] > trace["total_turns"]:
            yield Finding(f"{path}.archived_turn_count", "turns", "is more than total_turns")


def own(episode: Data) -> Iterator[Finding]:
    """What quizlog's own lines promise beyond the schema."""
    if not by_quizlog(episode):
        return
    gold, messages = episode[_GOLD], episode["conversation_for_sft"]["messages"]
    if gold["hooks"] and gold["final_answer_hash"] not in (None, gold["hooks"][-1]["value_hash"]):
        where = f"{_GOLD}.hooks[{len(gold['hooks']) - 1}].value_hash"
        yield Finding(where, "last-hook", "differs from the final answer's")
    if messages and messages[0]["content"] != episode["question"]["question_text"]:
        where = "conversation_for_sft.messages[0].content"
        yield Finding(where, "first-message", "is not the question")
    steps = episode["question"]["n_steps"]
    for path, count in (("code_cells", len(gold["code_cells"])), ("hooks", len(gold["hooks"]))):
        if count != steps:
            yield Finding(f"{_GOLD}.{path}", "steps", f"are {count}, but n_steps is {steps}")


def sealed(episode: Data, line: bytes) -> Iterator[Finding]:
    """A line that carries a seal is as it was when it was sealed."""
    seal = episode[_GOLD]["submission_metadata"].get("seal")
    if seal is not None and not seal_holds(line, episode, str(seal)):
        where = f"{_GOLD}.submission_metadata.seal"
        yield Finding(where, "seal", "the line was changed since it was written")


ERRORS: tuple[Rule, ...] = (identity, answers, agreement, hooks, dialogue, turns, own)
"""Every rule whose breach is an error, and the warnings that come with them."""
