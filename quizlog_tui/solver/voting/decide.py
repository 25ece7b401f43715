"""The rules that turn votes into a verdict, for new and for stored decisions.

Pure functions; no model is asked. `decide` changes only the verdict, never the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ...errors import UsageError, did_you_mean
from ...replay.script.input_kinds import is_free_text
from ..decision import AnswerClass, Decision, DecisionVerdict, Why
from .vote import Tally, tally

_STANDARD = "majority"
"""The rule of a new decision."""


@dataclass(frozen=True)
class _Standing:
    """The votes as a rule sees them."""

    classes: Sequence[AnswerClass]
    """The classes that are not refused, the heaviest first."""
    primary: AnswerClass | None
    """The class that the primary model voted for."""
    is_complete: bool
    """Whether every model with a weight above 0 has voted."""

    @property
    def voters(self) -> int:
        return sum(len(each.members) for each in self.classes)


Choice = tuple[AnswerClass, Why] | None
Rule = Callable[[_Standing], Choice]


def decide(decision: Decision, rule: str = _STANDARD) -> Decision:
    """The decision with the verdict of a rule.

    Raises:
        UsageError: There is no such rule.
    """
    if rule not in RULES:
        hint = did_you_mean(rule, RULES) or f"one of {', '.join(RULES)}"
        raise UsageError(f"there is no rule {rule!r}", hint=hint)
    counted = tally(decision)
    open_ = [each for each in counted.classes if not each.refused]
    primary = next((each for each in open_ if each.key == counted.primary), None)
    choice = RULES[rule].choose(_Standing(open_, primary, _all_voted(decision, counted)))
    return replace(decision, verdict=_verdict(rule, counted, open_, choice))


def _all_voted(decision: Decision, counted: Tally) -> bool:
    silent = {each.name for each in counted.abstained}
    return not any(model.weight for model in decision.models if model.name in silent)


def _verdict(
    rule: str, counted: Tally, open_: Sequence[AnswerClass], choice: Choice
) -> DecisionVerdict:
    chosen, why = choice or (None, None)
    refused = any(each.refused for each in counted.classes)
    rest = [each.answer for each in open_ if each is not chosen]
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
    """Whether a second round, in which models see each other's results, could settle it.

    It cannot if two or more models already outweigh all others, if no model answered, or if the
    answers are free texts.
    """
    replied = [model.name for model in decision.models if model.status == "ok"]
    if decision.reconciliation or not replied or is_free_text(decision.question.input_type):
        return False
    open_ = [each for each in tally(decision).classes if not each.refused]
    if sum(len(each.members) for each in open_) == 1:
        return len(replied) > 1
    top = _most(_Standing(open_, None, is_complete=False))
    return top is None or len(top[0].members) == 1


def settled(decision: Decision, outstanding: float) -> bool:
    """Whether no outstanding vote can change the answer.

    The leading class needs more than half of all possible weight; otherwise the primary model may
    still decide.

    Args:
        decision: The decision so far.
        outstanding: The total weight of the models that have not answered yet.
    """
    weights = [_exact(each.weight) for each in tally(decision).classes if not each.refused]
    return bool(weights) and 2 * weights[0] > sum(weights) + _exact(outstanding)


def two_runs_agree(decision: Decision) -> bool:
    """Whether the code of two models computed equal answers."""
    ran = {m.name for m in decision.models if m.executed and m.executed.status == "ok"}
    return any(len(ran & {*each.members}) > 1 for each in tally(decision).classes)


def _exact(weight: float) -> Fraction:
    """A weight as a fraction of its decimal notation, so that tenths add up exactly."""
    return Fraction(str(weight))


# -- the steps of rules


def _together(standing: _Standing) -> Choice:
    """The answer on which all models agree, or the only vote. Not voting is not agreeing."""
    if len(standing.classes) != 1:
        return None
    if standing.voters == 1:
        return standing.classes[0], "only_candidate"
    return (standing.classes[0], "unanimous") if standing.is_complete else None


def _most(standing: _Standing) -> Choice:
    """The class with more than half of the weight of all votes."""
    total = sum(_exact(each.weight) for each in standing.classes)
    top = next((each for each in standing.classes if 2 * _exact(each.weight) > total), None)
    return (top, "majority") if top else None


def _surest(standing: _Standing) -> Choice:
    """The class with the most weighted confidence, if the models stated their confidence."""
    if any(each.confidence is None or each.key.startswith("free:") for each in standing.classes):
        return None
    top = sorted(standing.classes, key=lambda each: -(each.confidence or 0))
    if len(top) > 1 and top[0].confidence == top[1].confidence:
        return None
    return (top[0], "confidence") if top else None


def _primary(standing: _Standing) -> Choice:
    """The class that the primary model voted for."""
    return (standing.primary, "primary") if standing.primary else None


def _heaviest(standing: _Standing) -> Choice:
    """The class with more weight than any other, even if less than half."""
    top = [each for each in standing.classes if each.weight == standing.classes[0].weight]
    return (top[0], "plurality") if len(top) == 1 else None


def _first(*steps: Rule) -> Rule:
    def choose(standing: _Standing) -> Choice:
        return next((choice for step in steps if (choice := step(standing))), None)

    return choose


def _all_agree(standing: _Standing) -> Choice:
    choice = _together(standing)
    return choice if choice and choice[1] == "unanimous" else None


@dataclass(frozen=True)
class _NamedRule:
    """A rule that a user can choose."""

    about: str
    """What it does, in a line."""
    choose: Rule


RULES: dict[str, _NamedRule] = {
    "majority": _NamedRule(
        "more than half of the weight, else the surest, else the primary model, else the heaviest",
        _first(_together, _most, _surest, _primary, _heaviest),
    ),
    "confidence": _NamedRule(
        "the most weighted confidence, else as majority",
        _first(_together, _surest, _most, _primary, _heaviest),
    ),
    "primary": _NamedRule(
        "the primary model's answer, else as majority",
        _first(_together, _primary, _most, _surest, _heaviest),
    ),
    "plurality": _NamedRule(
        "the most weight, however little, else the primary model",
        _first(_together, _most, _heaviest, _primary),
    ),
    "unanimous": _NamedRule("an answer only if all models agree, two or more of them", _all_agree),
}
"""All rules by name."""
