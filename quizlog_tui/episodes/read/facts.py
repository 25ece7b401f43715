"""Describes an episode for people: its runs next to the gold one, and the grounds for `verified`.

It reads broken lines as far as possible and leaves out what is missing. It judges by
the runs themselves, not by what the line says about them. Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ...text import plural
from ..format.hashing import JsonObject
from ..format.triangulate import Check, checks, standing, triangulate
from .files import parse


@dataclass(frozen=True)
class HookFacts:
    """An intermediate checkpoint."""

    name: str
    """Its variable's name; `answer_N` if it has none."""
    code_line: str
    depends_on: tuple[str, ...]
    value: str | None
    """The answer as given; None if unknown."""
    value_hash: str


@dataclass(frozen=True)
class EpisodeRun:
    """One run of the script."""

    name: str
    """The solver, and the number of the run among its runs."""
    success: bool
    score: float | None
    answer: str | None
    """The final answer as JSON; None if the run failed."""
    agrees: bool
    """Whether the answer has the gold one's hash."""
    inputs: tuple[str, ...]
    hooks: tuple[HookFacts, ...]

    def parts_from(self, gold: EpisodeRun) -> int:
        """The index of the first answer that differs from the gold run's."""
        pairs = zip(self.inputs, gold.inputs, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@dataclass(frozen=True)
class EpisodeFacts:
    """The description of an episode."""

    verified: bool
    """The episode's own claim."""
    checks: tuple[Check, ...]
    """The conditions for `verified`, judged by the runs."""
    question: str
    hint: str
    about: str
    """Difficulty, script, steps, seed, time and id in one line."""
    gold: EpisodeRun
    others: tuple[EpisodeRun, ...]
    system_prompt: str
    messages: tuple[tuple[str, str], ...]
    """Pairs of role and content."""

    @property
    def is_confirmed(self) -> bool:
        """Whether all conditions for `verified` hold."""
        return all(check.holds for check in self.checks)


def facts_of(line: bytes) -> EpisodeFacts:
    """The description of the episode on a line.

    Raises:
        LineError: The line is not a JSON object, or is nested too deep.
    """
    return facts(parse(line))


def facts(data: JsonObject) -> EpisodeFacts:
    """The description of an episode, whatever its line lacks."""
    gold, question = _part(data, "teacher_gold_trace"), _part(data, "question")
    traces = [gold, *(each for each in _list(data, "consistency_traces") if isinstance(each, dict))]
    metadata, pairs = _part(gold, "submission_metadata"), [_answer(each) for each in traces]
    runs = [_run(each, number, pairs[0][0]) for number, each in enumerate(traces)]
    talk = _part(data, "conversation_for_sft")
    said = [each for each in _list(talk, "messages") if isinstance(each, dict)]
    found = triangulate(pairs[0], pairs[1:])
    stands = standing({"execution_success": runs[0].success, "submission_metadata": metadata})
    return EpisodeFacts(
        verified=data.get("verified") is True,
        checks=tuple(checks(found, stands)),
        question=_text(question, "question_text"),
        hint=_text(question, "hint"),
        about=" · ".join(_about(data, question, _part(gold, "submission_metadata"))),
        gold=runs[0],
        others=tuple(runs[1:]),
        system_prompt=_text(talk, "system_prompt"),
        messages=tuple((_text(each, "role"), _text(each, "content")) for each in said),
    )


def _part(data: JsonObject, name: str) -> JsonObject:
    part = data.get(name)
    return part if isinstance(part, dict) else {}


def _list(data: JsonObject, name: str) -> list[object]:
    found = data.get(name)
    return found if isinstance(found, list) else []


def _text(data: JsonObject, name: str) -> str:
    text = data.get(name)
    return text if isinstance(text, str) else ""


def _answer(trace: JsonObject) -> tuple[str | None, object]:
    key, value = trace.get("final_answer_hash"), trace.get("final_answer")
    return (key, value) if isinstance(key, str) and value is not None else (None, None)


def _run(trace: JsonObject, number: int, gold: str | None) -> EpisodeRun:
    metadata, (key, value) = _part(trace, "submission_metadata"), _answer(trace)
    sample, score = metadata.get("sample"), metadata.get("score")
    which = f" #{sample}" if type(sample) is int and sample else ""
    inputs = tuple(each for each in _list(metadata, "inputs") if isinstance(each, str))
    return EpisodeRun(
        name=(_text(metadata, "solver") or (f"run {number}" if number else "gold")) + which,
        success=trace.get("execution_success") is True,
        score=score if isinstance(score, int | float) else None,
        answer=None if key is None else json.dumps(value, ensure_ascii=False),
        agrees=key is not None and key == gold,
        inputs=inputs,
        hooks=tuple(_hooks(trace, inputs)),
    )


def _hooks(trace: JsonObject, inputs: Sequence[str]) -> Iterator[HookFacts]:
    found = [each for each in _list(trace, "hooks") if isinstance(each, dict)]
    for index, each in enumerate(found):
        needed = (name for name in _list(each, "depends_on") if isinstance(name, str))
        yield HookFacts(
            _text(each, "variable_name") or f"answer_{index}",
            _text(each, "code_line"),
            tuple(needed),
            inputs[index] if index < len(inputs) else None,
            _text(each, "value_hash"),
        )


def _about(data: JsonObject, question: JsonObject, metadata: JsonObject) -> Iterator[str]:
    """What identifies the episode, as far as known."""
    steps, script = question.get("n_steps"), _text(metadata, "script")
    yield from filter(None, (_text(question, "difficulty"), script))
    if type(steps) is int:
        yield plural(steps, "step")
    if type(metadata.get("seed")) is int:
        yield f"seed {metadata['seed']}"
    yield from filter(None, (_text(data, "timestamp"), _text(data, "episode_id")))
