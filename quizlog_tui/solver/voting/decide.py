"""The rules that turn votes into one decision, the same for a fresh and for a stored one.

Pure functions; no model is asked. `decide` never changes evidence, only the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ...errors import UsageError
from ..decisions.decision import AnswerClass, Decision, DecisionVerdict, Why
from .vote import Tally, tally

STANDARD = "majority"
"""The rule of a fresh decision."""


@dataclass(frozen=True)
class _Standing:
    """What a rule looks at."""

    classes: Sequence[AnswerClass]
    """Those not refused, the heaviest first."""
    primary: AnswerClass | None
    """The one the primary model voted for."""
    is_complete: bool
    """Whether every model voted whose vote weighs anything."""

    @property
    def voters(self) -> int:
        return sum(len(one.members) for one in self.classes)


Choice = tuple[AnswerClass, Why] | None
Rule = Callable[[_Standing], Choice]


def decide(decision: Decision, rule: str = STANDARD) -> Decision:
    """The decision with the verdict that a rule gives.

    Raises:
        UsageError: There is no such rule.
    """
    if rule not in RULES:
        raise UsageError(f"there is no rule {rule!r}", hint=f"one of {', '.join(RULES)}")
    counted = tally(decision)
    open_ = [one for one in counted.classes if not one.refused]
    primary = next((one for one in open_ if one.key == counted.primary), None)
    choice = RULES[rule].choose(_Standing(open_, primary, _all_voted(decision, counted)))
    return replace(decision, verdict=_verdict(rule, counted, open_, choice))


def _all_voted(decision: Decision, counted: Tally) -> bool:
    silent = {one.name for one in counted.abstained}
    return not any(model.weight for model in decision.models if model.name in silent)


def _verdict(
    rule: str, counted: Tally, open_: Sequence[AnswerClass], choice: Choice
) -> DecisionVerdict:
    chosen, why = choice or (None, None)
    refused = any(one.refused for one in counted.classes)
    rest = [one.answer for one in open_ if one is not chosen]
    return DecisionVerdict(
        rule=rule,
        answer=chosen.answer if chosen else None,
        why="reason_feedback" if chosen and refused else why,
        classes=counted.classes,
        contributors=chosen.members if chosen else (),
        abstained=counted.abstained,
        conflicts=counted.conflicts,
        candidates=(chosen.answer, *rest) if chosen else tuple(rest),
    )


def needs_reconciliation(decision: Decision) -> bool:
    """Whether models that see each other's results could still settle it (spec 3.6).

    They cannot where two or more outweigh all others, where nobody answered, or where answers are
    free texts.
    """
    heard = [model.name for model in decision.models if model.status == "ok"]
    if decision.reconciliation or not heard or decision.question.input_type == "textarea":
        return False
    open_ = [one for one in tally(decision).classes if not one.refused]
    if sum(len(one.members) for one in open_) == 1:
        return len(heard) > 1
    top = _most(_Standing(open_, None, is_complete=False))
    return top is None or len(top[0].members) == 1


def settled(decision: Decision, outstanding: float) -> bool:
    """Whether no vote that is still missing can change the answer, whoever casts it.

    The leader needs more than half of all there can be: short of that, the primary model decides.

    Args:
        decision: What is known so far.
        outstanding: The weight of all models that have not answered yet.
    """
    weights = [_exact(one.weight) for one in tally(decision).classes if not one.refused]
    return bool(weights) and 2 * weights[0] > sum(weights) + _exact(outstanding)


def two_runs_agree(decision: Decision) -> bool:
    """Whether the code of two models came to equal answers."""
    ran = {m.name for m in decision.models if m.executed and m.executed.status == "ok"}
    return any(len(ran & {*one.members}) > 1 for one in tally(decision).classes)


def _exact(weight: float) -> Fraction:
    """A weight as it is written: tenths add up."""
    return Fraction(str(weight))


# -- the steps rules are made of


def _together(standing: _Standing) -> Choice:
    """All models agree, or one alone has voted. A model that did not vote has not agreed."""
    if len(standing.classes) != 1:
        return None
    if standing.voters == 1:
        return standing.classes[0], "only_candidate"
    return (standing.classes[0], "unanimous") if standing.is_complete else None


def _most(standing: _Standing) -> Choice:
    """More than half of the weight that was cast."""
    total = sum(_exact(one.weight) for one in standing.classes)
    top = next((one for one in standing.classes if 2 * _exact(one.weight) > total), None)
    return (top, "majority") if top else None


def _surest(standing: _Standing) -> Choice:
    """More weighted confidence than any other, where somebody said how sure it is."""
    if any(one.confidence is None or one.key.startswith("free:") for one in standing.classes):
        return None
    top = sorted(standing.classes, key=lambda one: -(one.confidence or 0))
    if len(top) > 1 and top[0].confidence == top[1].confidence:
        return None
    return (top[0], "confidence") if top else None


def _primary(standing: _Standing) -> Choice:
    """What the primary model votes for."""
    return (standing.primary, "primary") if standing.primary else None


def _heaviest(standing: _Standing) -> Choice:
    """More weight than any other, though not half of it."""
    top = [one for one in standing.classes if one.weight == standing.classes[0].weight]
    return (top[0], "plurality") if len(top) == 1 else None


def _first(*steps: Rule) -> Rule:
    def choose(standing: _Standing) -> Choice:
        return next((choice for step in steps if (choice := step(standing))), None)

    return choose


def _all_agree(standing: _Standing) -> Choice:
    choice = _together(standing)
    return choice if choice and choice[1] == "unanimous" else None


@dataclass(frozen=True)
class NamedRule:
    """A rule one may decide by."""

    about: str
    """What it does, in a line."""
    choose: Rule


RULES: dict[str, NamedRule] = {
    "majority": NamedRule(
        "more than half of the weight, else the surest, else the primary model, else the heaviest",
        _first(_together, _most, _surest, _primary, _heaviest),
    ),
    "confidence": NamedRule(
        "the most weighted confidence, else as majority",
        _first(_together, _surest, _most, _primary, _heaviest),
    ),
    "primary": NamedRule(
        "the primary model's answer, else as majority",
        _first(_together, _primary, _most, _surest, _heaviest),
    ),
    "plurality": NamedRule(
        "the most weight, however little, else the primary model",
        _first(_together, _most, _heaviest, _primary),
    ),
    "unanimous": NamedRule("an answer only if all models agree, two or more of them", _all_agree),
}
"""All rules by name."""
