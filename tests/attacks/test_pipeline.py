"""What a run leaves goes through vote, record and screen whole; and where it does not, that is seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.sandbox.result import ExecResult
from quizlog_tui.solver.decision import Decision
from quizlog_tui.solver.voting.decide import decide
from tests.attacks import pipeline
from tests.attacks.judge import Attempt

TEXTS = st.text(max_size=40) | st.sampled_from(
    ["\x1b[2J", "\u202e", "\ud800", "- a: b", "\x85", "NaN", "ERROR: no", "{}", "\n---\n", "0"]
)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
STATUSES = st.sampled_from(
    ["ok", "error", "timeout", "oom", "crashed", "no_result", "bad_result", "sandbox_error"]
)


def attempt(result: ExecResult) -> Attempt:
    nothing: Any = None
    return Attempt(result, nothing, [], 42, 42)


def result(answer: Any, status: Any = "ok", said: str = "") -> ExecResult:
    error = None if status == "ok" else said
    return ExecResult(status, answer, said, said, error, 0.1, "bwrap")


def judged(found: ExecResult) -> str | None:
    nothing: Any = None
    return pipeline.pipeline_ok(attempt(found), nothing, None)


@given(VALUES, STATUSES, TEXTS)
def test_any_result_goes_through(answer: Any, status: str, said: str) -> None:
    assert judged(result(answer if status == "ok" else None, status, said)) is None


BIG = {
    "no number": math.nan,
    "endless": math.inf,
    "digits": 10**5000,
    "long": "x" * 300_000,
    "deep": [[[[]]]] * 999,
}


@pytest.mark.parametrize("name", BIG)
def test_what_no_vote_takes_and_what_is_big_goes_through(name: str) -> None:
    assert judged(result(BIG[name])) is None


def split(decision: Decision) -> Decision:
    first, *others = decision.models
    assert first.executed
    odd = replace(first, executed=replace(first.executed, answer="odd"))
    return decide(replace(decision, models=(odd, *others)))


def deaf(decision: Decision) -> Decision:
    return decision


def swapped(decision: Decision) -> Decision:
    decided = decide(decision)
    return replace(decided, verdict=replace(decided.verdict, answer=43))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (split, "equal results were counted apart"),
        (deaf, "votes were lost"),
        (swapped, "what won is not what was answered"),
    ],
)
def test_a_vote_that_goes_wrong_is_seen(
    wrong: Callable[[Decision], Decision], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "decide", wrong)
    assert judged(result(42)) == said
