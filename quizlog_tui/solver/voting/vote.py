"""Counts votes: one ballot of each model, the classes of equal answers, and their weights.

An executed answer counts more than a claimed one; a failure is not a vote. Pure functions of a
decision's evidence; none depends on the order of the models.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...replay.script.input_kinds import CHOICE, JSON, MATRIX, MATRIX_LIST, RADIO
from ..decision import (
    Abstention,
    AnswerClass,
    Decision,
    Execution,
    ModelQuestion,
    ModelReply,
    Reconsidered,
)
from ..decision_text import answer_text
from .equality import (
    NoAnswerError,
    NormalForm,
    WantedForm,
    answer_value,
    grouped,
    is_inexact,
    normal_form,
    rules_told,
    same,
    wanted,
)

_EXECUTED = Fraction(1)
"""Weight of an answer that code computed."""
_ASSERTED = Fraction(1, 2)
"""Weight of an answer that was only claimed."""
_UNSURE = Fraction(1, 2)
"""Confidence of a model that stated none."""


@dataclass(frozen=True)
class _Ballot:
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


def _vote_of(
    model: ModelReply,
    again: Reconsidered | None,
    proven: Sequence[NormalForm],
    question: ModelQuestion,
) -> _Ballot | str:
    """The model's vote, preferably the reconsidered one; or why it has none, as text."""
    if not model.weight:
        return "its votes weigh nothing"
    second = again and _second_vote(model, again, proven, question)
    return second if isinstance(second, _Ballot) else _first_vote(model, question)


def _first_vote(model: ModelReply, question: ModelQuestion) -> _Ballot | str:
    if model.status != "ok":
        return _no_vote_reason(model.status, model.error)
    run = model.executed
    if run is None or run.status == "sandbox_error":
        return _ballot(model, model.claimed, question, executed=False)
    if run.status != "ok":
        return _no_vote_reason(f"its code: {run.status}", run.error)
    return _ballot(model, run.answer, question, executed=True)


def _second_vote(
    model: ModelReply, again: Reconsidered, proven: Sequence[NormalForm], question: ModelQuestion
) -> _Ballot | str:
    if again.status != "ok":
        return _no_vote_reason(again.status, again.error)
    run = again.executed
    if run is not None and run.status not in ("ok", "sandbox_error"):
        return _no_vote_reason(f"its code: {run.status}", run.error)
    sure = _UNSURE if again.confidence is None else Fraction(str(again.confidence))
    if run is not None and run.status == "ok":
        return _ballot(model, run.answer, question, executed=True, confidence=sure)
    vote = _ballot(model, again.final_answer, question, executed=False, confidence=sure)
    how = wanted(question)
    if isinstance(vote, _Ballot) and any(same(vote.form, form, how) for form in proven):
        return _ballot(model, again.final_answer, question, executed=True, confidence=sure)
    return vote


def _ballot(
    model: ModelReply,
    answer: Any,
    question: ModelQuestion,
    *,
    executed: bool,
    confidence: Fraction | None = None,
) -> _Ballot | str:
    try:
        form = normal_form(answer, question)
    except NoAnswerError as none:
        return str(none)
    weight = Fraction(str(model.weight)) * (_EXECUTED if executed else _ASSERTED)
    return _Ballot(
        model.name, answer, form, weight, executed, confidence, model.family, model.primary
    )


def _no_vote_reason(what: str, error: str | None) -> str:
    """Why there is no vote, in one line."""
    return f"{what}: {error}" if error else what


def _proven_forms(decision: Decision) -> list[NormalForm]:
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


def _in_conflict(model: ModelReply, question: ModelQuestion) -> bool:
    """Whether the model's code computed another answer than the model claimed."""
    computed = _form_of(model.executed, question)
    if computed is None or model.claimed is None:
        return False
    try:
        return not same(normal_form(model.claimed, question), computed, wanted(question))
    except NoAnswerError:
        return False


@dataclass(frozen=True)
class Tally:
    """All votes counted."""

    classes: tuple[AnswerClass, ...]
    """The classes of equal answers, the heaviest first."""
    abstained: tuple[Abstention, ...]
    conflicts: tuple[str, ...]
    primary: str | None
    """The key of the class that the primary model voted for, unless it was refused."""


def tally(decision: Decision) -> Tally:
    """Count the votes of a decision."""
    how = wanted(decision.question)
    again = {reply.name: reply for reply in decision.reconciliation}
    proven = _proven_forms(decision)
    ballots, abstained = [], []
    for model in sorted(decision.models, key=lambda model: model.name):
        vote = _vote_of(model, again.get(model.name), proven, decision.question)
        if isinstance(vote, _Ballot):
            ballots.append(vote)
        else:
            abstained.append(Abstention(model.name, vote))
    classes = _classes(ballots, decision, how)
    conflicts = sorted(m.name for m in decision.models if _in_conflict(m, decision.question))
    return Tally(classes, tuple(abstained), tuple(conflicts), _primary(classes, ballots))


def _primary(classes: Iterable[AnswerClass], ballots: Sequence[_Ballot]) -> str | None:
    names = {ballot.name for ballot in ballots if ballot.primary}
    return next((c.key for c in classes if not c.refused and names & {*c.members}), None)


def _classes(
    ballots: Sequence[_Ballot], decision: Decision, how: WantedForm
) -> tuple[AnswerClass, ...]:
    forms = _refused_forms(decision)
    refused = [b for b in ballots if any(same(form, b.form, how) for form in forms)]
    others = [b for b in ballots if b not in refused]
    found = [_class(group, decision, refused=False) for group in _groups(others, how)]
    found += [_class(group, decision, refused=True) for group in _groups(refused, how)]
    primaries = {ballot.name for ballot in ballots if ballot.primary}

    def order(one: AnswerClass) -> tuple[float, float, bool, str]:
        return -one.weight, -(one.confidence or 0), not primaries & {*one.members}, one.key

    return tuple(sorted(found, key=order))


def _groups(ballots: Sequence[_Ballot], how: WantedForm) -> list[list[_Ballot]]:
    groups = grouped([ballot.form for ballot in ballots], how)
    return [[ballots[i] for i in group] for group in groups]


def _refused_forms(decision: Decision) -> list[NormalForm]:
    forms = []
    for refusal in decision.refused:
        try:
            forms.append(normal_form(refusal.answer, decision.question))
        except NoAnswerError:
            continue
    return forms


def _class(members: Sequence[_Ballot], decision: Decision, *, refused: bool) -> AnswerClass:
    how = wanted(decision.question)
    sure = any(reply.confidence is not None for reply in decision.reconciliation)
    weights = {b.name: b.weight for b in members}
    trust = {
        b.name: b.weight * (_UNSURE if b.confidence is None else b.confidence) for b in members
    }
    cap = None if decision.family_cap is None else Fraction(str(decision.family_cap))
    return AnswerClass(
        key=_key(members, how),
        answer=_representative(members, decision.question, how),
        weight=float(_total(members, weights, cap)),
        members=tuple(sorted(weights)),
        confidence=float(_total(members, trust, cap)) if sure else None,
        refused=refused,
        rules=rules_told([b.form for b in members], how) if _differ(members, decision) else (),
    )


def _differ(members: Iterable[_Ballot], decision: Decision) -> bool:
    """Whether answers would have different hashes in episodes."""
    texts = {answer_text(ballot.answer, decision.question) for ballot in members}
    return len({_raw(answer_value(text)) for text in texts}) > 1


def _total(
    members: Iterable[_Ballot], weights: dict[str, Fraction], cap: Fraction | None
) -> Fraction:
    """The sum of the weights, with each provider family limited to the cap."""
    alone = [weights[b.name] for b in members if b.family is None or cap is None]
    families: dict[str, Fraction] = {}
    for ballot in members:
        if ballot.family is not None and cap is not None:
            so_far = families.get(ballot.family, Fraction(0))
            families[ballot.family] = min(cap, so_far + weights[ballot.name])
    return sum((*alone, *families.values()), Fraction(0))


def _key(members: Iterable[_Ballot], how: WantedForm) -> str:
    """The key of a class: the shortest of its members' labels."""
    labels = {ballot.form.label for ballot in members}
    kind = next(iter(members)).form.kind
    if kind == "string" and not how.exact_case:
        labels = {label.casefold() for label in labels}
    label = min(labels, key=lambda label: (len(label), label))
    if len(label) > 60:
        digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()
        label = f"{label[:48]}… {digest[:8]}"
    return f"{kind}:{label}"


def _representative(members: Iterable[_Ballot], question: ModelQuestion, how: WantedForm) -> Any:
    """The most frequent raw answer; among equals one that no rule changes as a number.

    Then one of the wanted type, then a computed one.
    """
    texts = Counter(_raw(ballot.answer) for ballot in members)

    def order(ballot: _Ballot) -> tuple[int, bool, bool, bool, int, str]:
        text = _raw(ballot.answer)
        unfit = not _fits(ballot.answer, question, how)
        inexact = is_inexact(ballot.form, how)
        return -texts[text], inexact, unfit, not ballot.executed, len(text), text

    return min(members, key=order).answer


def _raw(answer: Any) -> str:
    return json.dumps(answer, sort_keys=True)


def _fits(answer: Any, question: ModelQuestion, how: WantedForm) -> bool:
    """Whether a raw answer has the type and the decimals that the question asks for."""
    kind = question.input_type
    if kind in ("number", "integer"):
        number = isinstance(answer, (int, float)) and not isinstance(answer, bool)
        exact = how.decimals is None or (number and round(answer, how.decimals) == answer)
        return number and exact and (kind == "number" or isinstance(answer, int))
    if kind in (JSON, MATRIX, MATRIX_LIST):
        return isinstance(answer, (list, dict))
    if kind in (CHOICE, RADIO):
        return answer in question.choices
    return not how.decimals or isinstance(answer, (int, float))
