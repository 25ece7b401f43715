"""Which answer wins and why: a table of votes, and what holds for any votes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import UsageError
from quizlog_tui.solver.decision import Decision, DecisionVerdict, ModelQuestion, ModelReply
from quizlog_tui.solver.voting.decide import (
    RULES,
    decide,
    needs_reconciliation,
    settled,
    two_runs_agree,
)

from .votes import again, asked, failed, ran, said, silent, verdict

NUMBER = ModelQuestion("Sum? ", input_type="number")
INTEGER = ModelQuestion("How many? ", input_type="integer")
CENTS = ModelQuestion("Sum, 2 decimals? ", input_type="number")
ESSAY = ModelQuestion("Say: ", input_type="textarea")
MATRIX = ModelQuestion("L? ", input_type="matrix")
COLOUR = ModelQuestion("Which? ", input_type="choice", choices=("Red", "Green"))
P = {"primary": True}

CASES: dict[str, tuple[DecisionVerdict, Any, str | None]] = {
    # counting
    "nobody": (verdict(), None, None),
    "one": (verdict(ran(4)), 4, "only_candidate"),
    "one asserts": (verdict(said(4)), 4, "only_candidate"),
    "two agree": (verdict(ran(4), ran(4)), 4, "unanimous"),
    "two agree in other forms": (verdict(ran(4), said("4.0")), 4, "unanimous"),
    "three agree": (verdict(ran(4), ran(4), ran(4)), 4, "unanimous"),
    "two of three": (verdict(ran(4), ran(4), ran(5)), 4, "majority"),
    "three of five": (verdict(*map(ran, [4, 4, 4, 5, 5])), 4, "majority"),
    "half is no majority": (verdict(ran(4), ran(4), ran(5, **P), ran(6)), 5, "primary"),
    "two of five": (verdict(*map(ran, [4, 4, 5, 6]), ran(7, **P)), 7, "primary"),
    "two of five without primary": (verdict(*map(ran, [4, 4, 5, 6, 7])), 4, "plurality"),
    "a tie with primary": (verdict(ran(4), ran(5, **P)), 5, "primary"),
    "a tie without": (verdict(ran(4), ran(5)), None, None),
    "a tie of pairs": (verdict(ran(4), ran(4), ran(5), ran(5)), None, None),
    "three ways": (verdict(ran(4), ran(5), ran(6)), None, None),
    "majority beats primary": (verdict(ran(4), ran(4), ran(5, **P)), 4, "majority"),
    # executed beats asserted
    "a run beats a claim": (verdict(ran(4), said(5)), 4, "majority"),
    "a run ties with two claims": (verdict(ran(4), said(5), said(5)), None, None),
    "a run loses to three claims": (verdict(ran(4), *map(said, [5, 5, 5])), 5, "majority"),
    "a run counts, not its claim": (verdict(ran(4, claimed=5), ran(4), said(5)), 4, "majority"),
    "a run beats the primary's claim": (verdict(ran(4), said(5, **P)), 4, "majority"),
    # abstentions
    "time-out": (verdict(ran(4), silent("timeout")), 4, "only_candidate"),
    "invalid is no assent": (verdict(ran(4), ran(4), silent("invalid")), 4, "majority"),
    "time-out is no assent": (verdict(ran(4), ran(4), silent("timeout")), 4, "majority"),
    "nor is code that hung": (verdict(ran(4), ran(4), failed("timeout", 4)), 4, "majority"),
    "whose vote weighs nothing is not missed": (verdict(ran(4), ran(4), silent("timeout", weight=0)), 4, "unanimous"),
    "limited": (verdict(ran(4), ran(5, **P), silent("rate_limited")), 5, "primary"),
    "all fail": (verdict(silent("error"), silent("timeout"), silent("invalid")), None, None),
    "its code raised": (verdict(failed("error", 5), said(4)), 4, "only_candidate"),
    "its code hung": (verdict(failed("timeout", 5), ran(4)), 4, "only_candidate"),
    "its code left nothing": (verdict(failed("no_result", 5), ran(4)), 4, "only_candidate"),
    "no memory": (verdict(failed("oom", 5), ran(4)), 4, "only_candidate"),
    "the sandbox failed, its claim stays": (verdict(failed("sandbox_error", 5)), 5, "only_candidate"),
    "a claim without a sandbox is a claim": (verdict(failed("sandbox_error", 5), ran(4)), 4, "majority"),
    "says nothing": (verdict(said(None), ran(4)), 4, "only_candidate"),
    "blank": (verdict(said("  "), ran(4)), 4, "only_candidate"),
    "NaN": (verdict(ran(float("nan")), ran(4)), 4, "only_candidate"),
    "infinite": (verdict(ran(float("inf")), ran(4)), 4, "only_candidate"),
    "an error's text": (verdict(said("ERROR: Max iterations reached"), ran(4)), 4, "only_candidate"),
    "two errors' texts": (verdict(ran("Error: x"), ran("Error: x")), None, None),
    "the primary abstains": (verdict(silent("timeout", **P), ran(4), ran(5)), None, None),
    "false is a vote": (verdict(ran(False), ran(False)), False, "unanimous"),
    "zero is a vote": (verdict(ran(0), ran(0)), 0, "unanimous"),
    "an empty list is a vote": (verdict(ran([]), said("[]")), [], "unanimous"),
    # weights
    "a heavy model": (verdict(ran(4, weight=2.5), ran(5), ran(5)), 4, "majority"),
    "a heavy model ties": (verdict(ran(4, weight=2), ran(5), ran(5)), None, None),
    "decimal weights are exact": (
        verdict(ran(4, weight=0.3), ran(5, weight=0.1), ran(5, weight=0.2)), None, None,
    ),
    "no weight, no vote": (verdict(ran(4, weight=0), ran(5)), 5, "only_candidate"),
    "a family's cap": (
        verdict(ran(4, family="x"), ran(4, family="x"), ran(5), ran(5), family_cap=1.0), 5, "majority",
    ),
    "a family without a cap": (
        verdict(ran(4, family="x"), ran(4, family="x"), ran(5), ran(5, **P)), 5, "primary",
    ),
    "the cap leaves others": (
        verdict(ran(4, family="x"), ran(4, family="y"), ran(5), family_cap=1.0), 4, "majority",
    ),
    # classes and what is submitted
    "types meet": (verdict(ran(273), ran("273.00"), ran(5), question=NUMBER), 273, "majority"),
    "the raw form given most often": (verdict(ran("4.0"), ran("4.0"), ran(4)), "4.0", "unanimous"),
    "the form a question wants": (verdict(ran("4"), ran(4.0), ran(4), question=INTEGER), 4, "unanimous"),
    "its decimals": (verdict(ran(1.8899), ran(1.89), question=CENTS), 1.89, "unanimous"),
    "what computing left is not submitted": (verdict(ran(6.7e-16), said("0"), question=NUMBER), "0", "unanimous"),
    "nor a number that is not rounded": (verdict(ran(1.8899), said("1.89"), question=CENTS), "1.89", "unanimous"),
    "a matrix, not its text": (verdict(ran("[[1]]"), ran([[1]]), question=MATRIX), [[1]], "unanimous"),
    "the very option": (verdict(ran("red"), ran("Red"), question=COLOUR), "Red", "unanimous"),
    "what ran before what was said": (verdict(said("b a"), ran("B  A")), "B  A", "unanimous"),
    "text stays raw": (verdict(ran("PARIS"), ran("PARIS"), ran("Rome")), "PARIS", "majority"),
    "leading zeros are kept": (verdict(ran("007"), ran("007"), ran(7)), "007", "majority"),
    "bool is no number": (verdict(ran(True), ran(1), ran(1)), 1, "majority"),
    "JSON order": (verdict(ran({"a": 1, "b": 2}), ran({"b": 2, "a": 1})), {"a": 1, "b": 2}, "unanimous"),
    "list order": (verdict(ran([1, 2]), ran([2, 1]), ran([1, 2])), [1, 2], "majority"),
    # free text
    "texts differ": (verdict(said("One."), said("Two.", **P), said("Three."), question=ESSAY), "Two.", "primary"),
    "texts differ, nobody is primary": (verdict(said("One."), said("Two."), question=ESSAY), None, None),
    # reconciliation
    "minds change": (
        verdict(said(4), said(5), said(6), second=(again("a", 5), again("c", 5))), 5, "unanimous",
    ),
    "a new majority": (
        verdict(said(4), said(5), said(6, **P), second=(again("a", 5, 0.1), again("c", 6, 1))), 5, "majority",
    ),
    "the surest": (
        verdict(said(4), said(5, **P), second=(again("a", 4, 0.9), again("b", 5, 0.6))), 4, "confidence",
    ),
    "as sure": (
        verdict(said(4), said(5, **P), second=(again("a", 4, 0.9), again("b", 5, 0.9))), 5, "primary",
    ),
    "half sure if it does not say": (
        verdict(said(4), said(5), second=(again("a", 4, 0.6), again("b", 5))), 4, "confidence",
    ),
    "silence keeps the first vote": (
        verdict(said(4), said(5), said(6), second=(again("a", 5, 1.0),)), 5, "majority",
    ),
    "no answer keeps the first vote": (
        verdict(ran(4), ran(5, **P), second=(again("a", None), again("b", ""))), 5, "primary",
    ),
    "a claim that a run proves": (
        verdict(ran(4), said(5), said(5), second=(again("b", 4, 1), again("c", 5, 1))), 4, "majority",
    ),
    "it weighs as much as the run": (
        verdict(ran(4), *map(said, [5, 5, 5, 5]), second=(again("b", 4, 1),)), 4, "majority",
    ),
    "corrected code counts": (
        verdict(failed("error"), said(5), second=(replace(again("a", 5), executed=ran(4).executed),)),
        4, "majority",
    ),
    "corrected code that fails": (
        verdict(ran(4), said(5), second=(replace(again("a", 6), executed=failed("error").executed),)),
        4, "majority",
    ),
    "rescued by others": (
        verdict(failed("error"), said(5), second=(again("a", 5, 0.8),)), 5, "unanimous",
    ),
    # refused answers
    "never the same again": (verdict(ran(4), ran(4), ran(5), refused=[4]), 5, "reason_feedback"),
    "nor an equal one": (verdict(ran(4), ran("4.0"), ran(5), refused=["4"]), 5, "reason_feedback"),
    "nothing is left": (verdict(ran(4), ran(4), refused=[4]), None, None),
    "what nobody says": (verdict(ran(4), ran(4), refused=[9]), 4, "unanimous"),
    "a refused primary": (verdict(ran(4, **P), ran(5), ran(6), ran(6), refused=[4]), 6, "reason_feedback"),
    # other rules
    "primary first": (verdict(ran(4), ran(4), ran(5, **P), rule="primary"), 5, "primary"),
    "primary first, silent": (verdict(ran(4), ran(4), silent("error", **P), ran(5), rule="primary"), 4, "majority"),
    "only if all agree": (verdict(ran(4), ran(4), ran(5), rule="unanimous"), None, None),
    "all agree": (verdict(ran(4), ran(4), rule="unanimous"), 4, "unanimous"),
    "silence is not agreement": (verdict(ran(4), ran(4), silent("timeout"), rule="unanimous"), None, None),
    "one alone agrees with nobody": (verdict(ran(4), rule="unanimous"), None, None),
    "the most, however little": (verdict(*map(ran, [4, 4, 5, 6]), ran(7, **P), rule="plurality"), 4, "plurality"),
    "the surest before the most": (
        verdict(said(4), said(4), said(5), rule="confidence",
                second=(again("a", 4, 0.1), again("b", 4, 0.1), again("c", 5, 0.9))),
        5, "confidence",
    ),
    "nobody says how sure": (verdict(ran(4), ran(4), ran(5), rule="confidence"), 4, "majority"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_table(case: str) -> None:
    found, answer, why = CASES[case]
    assert (found.answer, type(found.answer), found.why) == (answer, type(answer), why)


def test_a_rule_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no rule 'best'"):
        decide(asked(), "best")


def test_who_contributed_abstained_and_is_in_conflict_is_told() -> None:
    found = verdict(ran(4, claimed=5), ran(4), ran(6), silent("timeout"), failed("error", 4))
    assert found.contributors == ("a", "b")
    assert [(one.name, one.reason) for one in found.abstained] == [
        ("d", "timeout: why"),
        ("e", "its code: error: why"),
    ]
    assert found.conflicts == ("a",)


def test_candidates_are_in_the_order_they_should_be_tried() -> None:
    found = verdict(ran(4), ran(4), ran(4), ran(5), ran(5), ran(6), ran(7, primary=True))
    assert found.candidates == (7, 4, 5, 6)
    assert verdict(ran(4), ran(4), ran(5), ran(6), refused=[4]).candidates == (5, 6)


def test_refused_classes_are_still_shown() -> None:
    [first, second] = verdict(ran(4), ran(4), ran(5), refused=[4]).classes
    assert (first.answer, first.refused, second.refused) == (4, True, False)


@pytest.mark.parametrize(
    ("decision", "needed"),
    [
        (asked(), False),
        (asked(ran(4)), False),
        (asked(ran(4), ran(4)), False),
        (asked(ran(4), ran(4), ran(5)), False),
        (asked(ran(4), ran(5)), True),
        (asked(ran(4), said(5)), True),
        (asked(ran(4), ran(5), ran(5), refused=[4]), False),
        (asked(ran(4), silent("timeout")), False),
        (asked(ran(4), failed("error")), True),
        (asked(failed("error"), failed("error")), True),
        (asked(silent("error"), silent("timeout")), False),
        (asked(said("x"), said("y"), question=ESSAY), False),
        (asked(ran(4), ran(5), second=(again("a", 4),)), False),
        (asked(ran(4), ran(4), ran(5), refused=[4]), True),
    ],
)
def test_when_models_are_asked_again(decision: Decision, needed: bool) -> None:
    assert needs_reconciliation(decision) is needed


def test_an_answer_between_a_refused_one_and_another_does_not_refuse_the_other() -> None:
    tenth = ModelQuestion("The mean, to 1 decimal place: ", input_type="number")
    found = verdict(ran(90.25), ran(90.3), ran(90.3), question=tenth, refused=[90.2])
    assert (found.answer, found.candidates) == (90.3, (90.3,))
    assert [(one.answer, one.refused) for one in found.classes] == [(90.3, False), (90.25, True)]


def test_answers_that_differ_are_not_one_by_what_lies_between() -> None:
    tenth = ModelQuestion("The mean, to 1 decimal place: ", input_type="number")
    found = verdict(ran(90.2), ran(90.25), ran(90.3), question=tenth)
    assert found.why == "majority"
    assert len(found.classes) == 2


def test_settled_when_no_missing_vote_can_unseat_the_leader() -> None:
    assert settled(asked(ran(4), ran(4), ran(5)), 0.5)
    assert not settled(asked(ran(4), ran(4), ran(5)), 1)
    assert not settled(asked(), 0)
    assert settled(asked(ran(4)), 0.9)
    led = asked(ran(4), ran(4), ran(4), ran(5), ran(6), ran(7))
    assert not settled(led, 1)  # the primary model may be the one that is missing
    assert decide(led).verdict.answer == 4
    late = replace(ran(5), name="z", primary=True)
    assert decide(replace(led, models=(*led.models, late))).verdict.answer == 5


def test_two_runs_agree() -> None:
    assert two_runs_agree(asked(ran(4), ran("4"), said(5)))
    assert not two_runs_agree(asked(ran(4), said(4), ran(5)))


# -- for any votes

ANSWERS = st.sampled_from(
    [4, 4.0, "4", 5, 5.1, True, "yes", "Yes", [1], "[1]", "", None, "Error: x"]
)
WEIGHTS = st.sampled_from([0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 0.0])
MODELS = st.builds(
    lambda make, answer, weight, primary, family: make(
        answer, weight=weight, primary=primary, family=family
    ),
    st.sampled_from([ran, said]),
    ANSWERS,
    WEIGHTS,
    st.booleans(),
    st.sampled_from([None, "x", "y"]),
)
SILENT = st.sampled_from(
    [silent("timeout"), silent("invalid"), failed("error", 4), said(None), ran("")]
)
QUESTIONS = st.sampled_from(
    [ModelQuestion("?"), NUMBER, INTEGER, CENTS, ESSAY, ModelQuestion("?", input_type="yesno")]
)
RULE = st.sampled_from(sorted(RULES))


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    models = draw(st.lists(st.one_of(MODELS, SILENT), max_size=7))
    primary = draw(st.integers(0, 7))
    models = [replace(one, primary=index == primary) for index, one in enumerate(models)]
    second = tuple(
        again("abcdefghij"[i], draw(ANSWERS), draw(st.sampled_from([None, 0.0, 0.3, 0.5, 1.0])))
        for i in range(len(models))
        if draw(st.booleans())
    )
    return asked(
        *models,
        question=draw(QUESTIONS),
        second=second,
        refused=tuple(draw(st.lists(st.sampled_from([4, "yes", [1]]), max_size=2))),
        family_cap=draw(st.sampled_from([None, 0.3, 1.0, 2.0])),
    )


@given(decisions(), RULE, st.randoms())
def test_the_order_of_models_does_not_matter(decision: Decision, rule: str, random: Any) -> None:
    models = random.sample(decision.models, len(decision.models))
    second = random.sample(decision.reconciliation, len(decision.reconciliation))
    shuffled = replace(decision, models=tuple(models), reconciliation=tuple(second))
    assert repr(decide(shuffled, rule).verdict) == repr(decide(decision, rule).verdict)


@given(decisions(), RULE, st.sampled_from([0.1, 0.5, 1.0, 3.0]), st.booleans())
def test_one_more_vote_for_the_winner_never_unseats_it(
    decision: Decision, rule: str, weight: float, run: bool
) -> None:
    before = decide(decision, rule).verdict
    if before.answer is None:
        return
    voter: ModelReply = (ran if run else said)(before.answer, "z", weight=weight)
    after = decide(replace(decision, models=(*decision.models, voter)), rule).verdict
    winner = next(one for one in before.classes if set(one.members) == set(before.contributors))
    assert set(winner.members) | {"z"} <= set(after.contributors)


@given(decisions(), RULE, SILENT)
def test_an_abstention_changes_nothing_but_unanimity(
    decision: Decision, rule: str, one: ModelReply
) -> None:
    before = decide(decision, rule).verdict
    more = (*decision.models, replace(one, name="z", primary=False))
    after = decide(replace(decision, models=more), rule).verdict
    assert after.why != "unanimous"
    agreed = decide(decision, "unanimous").verdict.contributors  # also after a refused answer
    if not agreed:
        assert repr(replace(after, abstained=before.abstained)) == repr(before)
    elif rule != "unanimous":
        assert repr(after.answer) == repr(before.answer)
    assert {found.name for found in after.abstained} - {
        found.name for found in before.abstained
    } == {"z"}


@given(decisions(), st.lists(MODELS, max_size=3))
def test_what_is_settled_stays_whatever_comes_late(
    decision: Decision, late: list[ModelReply]
) -> None:
    early = decide(replace(decision, reconciliation=()))
    named = tuple(replace(one, name=f"z{index}") for index, one in enumerate(late))
    if settled(early, round(sum(one.weight for one in named), 3)):
        after = decide(replace(early, models=(*early.models, *named))).verdict
        assert early.verdict.contributors
        assert set(early.verdict.contributors) <= set(after.contributors)


@given(decisions(), RULE)
def test_every_model_votes_once_or_abstains(decision: Decision, rule: str) -> None:
    found = decide(decision, rule).verdict
    voters = [name for one in found.classes for name in one.members]
    silent_ones = [one.name for one in found.abstained]
    assert sorted(voters + silent_ones) == sorted(model.name for model in decision.models)


@given(decisions(), RULE)
def test_what_is_chosen_stands_first_and_was_never_refused(decision: Decision, rule: str) -> None:
    found = decide(decision, rule).verdict
    open_ = [one for one in found.classes if not one.refused]
    assert len(found.candidates) == len(open_)
    assert (found.why is None) == (found.answer is None)
    if found.why:
        assert found.candidates[0] is found.answer
        assert set(found.contributors) in [set(one.members) for one in open_]


@given(decisions())
def test_keys_of_classes_are_unique(decision: Decision) -> None:
    keys = [one.key for one in decide(decision).verdict.classes]
    assert len(set(keys)) == len(keys)
