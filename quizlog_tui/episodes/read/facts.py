"""What there is to see in an episode: its runs beside the gold one, and what speaks for `verified`.

For people who look, not for trainers: reads older and broken forms as far as they go, where a part
is missing says less, and judges by the runs themselves, not by what the line says of them.
Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ..format.matching import cluster_of, matcher_or_usual
from ..format.migrations import mended
from ..format.triangulate import Standing, Triangulation, standing, triangulate
from .reading import LineError, parse


@dataclass(frozen=True)
class Check:
    """One thing that must hold for `verified`."""

    holds: bool
    text: str


@dataclass(frozen=True)
class HookFacts:
    """An intermediate checkpoint."""

    name: str
    """Its variable; `answer_N` where it has none."""
    code_line: str
    depends_on: tuple[str, ...]
    value: str | None
    """The answer as it was given, where that is told."""
    value_hash: str


@dataclass(frozen=True)
class EpisodeRun:
    """One run of the script."""

    name: str
    """Who answered, and which of that solver's runs it is."""
    success: bool
    score: float | None
    answer: str | None
    """The final answer as JSON; None where the run did not end well."""
    agrees: bool
    """Whether the answer counts as the gold one."""
    inputs: tuple[str, ...]
    hooks: tuple[HookFacts, ...]

    def parts_from(self, gold: EpisodeRun) -> int:
        """The index of the first answer that is not the gold run's."""
        pairs = zip(self.inputs, gold.inputs, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@dataclass(frozen=True)
class EpisodeFacts:
    """An episode as it is shown."""

    verified: bool
    """What the line says."""
    checks: tuple[Check, ...]
    """What the runs bear out."""
    question: str
    hint: str
    about: str
    """Ids, script, seed and the like in a line."""
    gold: EpisodeRun
    others: tuple[EpisodeRun, ...]
    system_prompt: str
    messages: tuple[tuple[str, str], ...]
    """Role and content, each."""

    @property
    def borne_out(self) -> bool:
        """Whether all that must hold for `verified` does."""
        return all(check.holds for check in self.checks)


def facts_of(line: bytes) -> EpisodeFacts:
    """What there is to see in a line.

    Raises:
        LineError: It is no JSON object, or is nested too deep.
    """
    try:
        return facts(parse(line))
    except RecursionError:
        raise LineError("too-deep", "is nested too deep") from None


def facts(episode: dict[str, Any]) -> EpisodeFacts:
    """What there is to see in an episode, whatever its form."""
    data, _ = mended(episode)
    gold, question = _part(data, "teacher_gold_trace"), _part(data, "question")
    traces = [gold, *(one for one in _list(data, "consistency_traces") if isinstance(one, dict))]
    told, pairs = _part(gold, "submission_metadata"), [_answer(one) for one in traces]
    matcher = matcher_or_usual(told.get("matcher"))
    same = cluster_of(pairs[0][0], pairs, matcher)
    runs = [_run(one, number, same) for number, one in enumerate(traces)]
    talk = _part(data, "conversation_for_sft")
    said = [one for one in _list(talk, "messages") if isinstance(one, dict)]
    found = triangulate(pairs[0], pairs[1:], matcher)
    stands = standing({"execution_success": runs[0].success, "submission_metadata": told})
    return EpisodeFacts(
        verified=data.get("verified") is True,
        checks=tuple(checks(found, stands)),
        question=_text(question, "question_text"),
        hint=_text(question, "hint"),
        about=" · ".join(_about(data, question, _part(gold, "submission_metadata"))),
        gold=runs[0],
        others=tuple(runs[1:]),
        system_prompt=_text(talk, "system_prompt"),
        messages=tuple((_text(one, "role"), _text(one, "content")) for one in said),
    )


def checks(found: Triangulation, gold: Standing) -> Iterator[Check]:
    """Each thing that must hold for `verified`, in words; all of them hold where it may be true."""
    finishes = "finishes" if gold.success else "does not finish"
    yield Check(gold.success, f"the script {finishes} on the gold answers")
    taken = "a gold answer was" if gold.reconciled else "no gold answer was"
    yield Check(not gold.reconciled, f"{taken} taken from a reconciliation")
    if gold.doubt is not None:
        yield Check(False, f"the script cannot be verified: {gold.doubt}")
    yield Check(found.succeeded > 0, _answered(found))
    if not found.succeeded:
        return
    strict = 2 * found.majority_count > found.succeeded
    agree = f"{found.majority_count} of the {found.succeeded} that answered agree"
    yield Check(strict, f"{agree}: {'more' if strict else 'not more'} than half")
    if strict:
        gave = "gave the gold answer" if found.gold_matches else "gave another answer"
        yield Check(found.gold_matches, f"the majority {gave}")


def _answered(found: Triangulation) -> str:
    if not found.runs:
        return "there is no consistency run"
    return f"of {found.runs} consistency runs {found.succeeded or 'none'} came to an answer"


def _part(data: dict[str, Any], name: str) -> dict[str, Any]:
    part = data.get(name)
    return part if isinstance(part, dict) else {}


def _list(data: dict[str, Any], name: str) -> list[Any]:
    found = data.get(name)
    return found if isinstance(found, list) else []


def _text(data: dict[str, Any], name: str) -> str:
    text = data.get(name)
    return text if isinstance(text, str) else ""


def _answer(trace: dict[str, Any]) -> tuple[str | None, Any]:
    key, value = trace.get("final_answer_hash"), trace.get("final_answer")
    return (key, value) if isinstance(key, str) and value is not None else (None, None)


def _run(trace: dict[str, Any], number: int, same: frozenset[str]) -> EpisodeRun:
    told, (key, value) = _part(trace, "submission_metadata"), _answer(trace)
    sample, score = told.get("sample"), told.get("score")
    which = f" #{sample}" if type(sample) is int and sample else ""
    inputs = tuple(one for one in _list(told, "inputs") if isinstance(one, str))
    return EpisodeRun(
        name=(_text(told, "solver") or (f"run {number}" if number else "gold")) + which,
        success=trace.get("execution_success") is True,
        score=score if isinstance(score, int | float) else None,
        answer=None if key is None else json.dumps(value, ensure_ascii=False),
        agrees=key in same,
        inputs=inputs,
        hooks=tuple(_hooks(trace, inputs)),
    )


def _hooks(trace: dict[str, Any], inputs: Sequence[str]) -> Iterator[HookFacts]:
    found = [one for one in _list(trace, "hooks") if isinstance(one, dict)]
    for index, one in enumerate(found):
        needed = (name for name in _list(one, "depends_on") if isinstance(name, str))
        yield HookFacts(
            _text(one, "variable_name") or f"answer_{index}",
            _text(one, "code_line"),
            tuple(needed),
            inputs[index] if index < len(inputs) else None,
            _text(one, "value_hash"),
        )


def _about(data: dict[str, Any], question: dict[str, Any], told: dict[str, Any]) -> Iterator[str]:
    """What identifies the episode, as far as it is told."""
    steps, script = question.get("n_steps"), _text(told, "script")
    yield from filter(None, (_text(question, "difficulty"), script))
    if type(steps) is int:
        yield f"{steps} step{'' if steps == 1 else 's'}"
    if type(told.get("seed")) is int:
        yield f"seed {told['seed']}"
    yield from filter(None, (_text(data, "timestamp"), _text(data, "episode_id")))
