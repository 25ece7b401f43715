"""One model's vote: its answer and weight, or why it has none.

An executed answer counts more than a claimed one; a failure is not a vote. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..decisions.decision import Decision, Execution, ModelQuestion, ModelReply, Reconsidered
from .equality import NormalForm, same, wanted
from .normal import NoAnswerError, normal_form

EXECUTED = Fraction(1)
"""Weight of an answer that code computed."""
ASSERTED = Fraction(1, 2)
"""Weight of an answer that was only claimed."""
UNSURE = Fraction(1, 2)
"""Confidence of a model that stated none."""


@dataclass(frozen=True)
class Ballot:
    """One model's vote."""

    name: str
    answer: Any
    """The raw answer."""
    form: NormalForm
    weight: Fraction
    executed: bool
    """Whether code computed it."""
    confidence: Fraction | None = None
    family: str | None = None
    primary: bool = False


def vote_of(
    model: ModelReply,
    again: Reconsidered | None,
    proven: Sequence[NormalForm],
    question: ModelQuestion,
) -> Ballot | str:
    """The model's vote, preferably the reconsidered one; or why it has none, as text."""
    if not model.weight:
        return "its votes weigh nothing"
    second = again and _second_vote(model, again, proven, question)
    return second if isinstance(second, Ballot) else _first_vote(model, question)


def _first_vote(model: ModelReply, question: ModelQuestion) -> Ballot | str:
    if model.status != "ok":
        return no_vote_reason(model.status, model.error)
    run = model.executed
    if run is None or run.status == "sandbox_error":
        return _ballot(model, model.claimed, question, executed=False)
    if run.status != "ok":
        return no_vote_reason(f"its code: {run.status}", run.error)
    return _ballot(model, run.answer, question, executed=True)


def _second_vote(
    model: ModelReply, again: Reconsidered, proven: Sequence[NormalForm], question: ModelQuestion
) -> Ballot | str:
    if again.status != "ok":
        return no_vote_reason(again.status, again.error)
    run = again.executed
    if run is not None and run.status not in ("ok", "sandbox_error"):
        return no_vote_reason(f"its code: {run.status}", run.error)
    sure = UNSURE if again.confidence is None else Fraction(str(again.confidence))
    if run is not None and run.status == "ok":
        return _ballot(model, run.answer, question, executed=True, confidence=sure)
    vote = _ballot(model, again.final_answer, question, executed=False, confidence=sure)
    how = wanted(question)
    if isinstance(vote, Ballot) and any(same(vote.form, form, how) for form in proven):
        return _ballot(model, again.final_answer, question, executed=True, confidence=sure)
    return vote


def _ballot(
    model: ModelReply,
    answer: Any,
    question: ModelQuestion,
    *,
    executed: bool,
    confidence: Fraction | None = None,
) -> Ballot | str:
    try:
        form = normal_form(answer, question)
    except NoAnswerError as none:
        return str(none)
    weight = Fraction(str(model.weight)) * (EXECUTED if executed else ASSERTED)
    return Ballot(
        model.name, answer, form, weight, executed, confidence, model.family, model.primary
    )


def no_vote_reason(what: str, error: str | None) -> str:
    """Why there is no vote, in one line."""
    return f"{what}: {error}" if error else what


def proven_forms(decision: Decision) -> list[NormalForm]:
    """The normal forms of all answers that code computed, in either round."""
    runs = [reply.executed for reply in decision.models]
    runs += [reply.executed for reply in decision.reconciliation]
    return [form for run in runs if (form := _form_of(run, decision.question))]


def _form_of(run: Execution | None, question: ModelQuestion) -> NormalForm | None:
    if run is None or run.status != "ok":
        return None
    try:
        return normal_form(run.answer, question)
    except NoAnswerError:
        return None


def is_equal(one: Any, other: Any, question: ModelQuestion) -> bool:
    """Whether two raw answers count as equal. A value that is not an answer equals nothing."""
    try:
        return same(normal_form(one, question), normal_form(other, question), wanted(question))
    except NoAnswerError:
        return False


def in_conflict(model: ModelReply, question: ModelQuestion) -> bool:
    """Whether the model's code computed another answer than the model claimed."""
    computed = _form_of(model.executed, question)
    if computed is None or model.claimed is None:
        return False
    try:
        return not same(normal_form(model.claimed, question), computed, wanted(question))
    except NoAnswerError:
        return False
