"""The first difference between runs: named by step and kind, and only where something differs."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from quizlog_tui.proof.diverge import Difference, first_difference
from quizlog_tui.record.model import LastError
from tests.support.made_runs import ENDS, STOPS, run


@given(STOPS, ENDS)
def test_a_run_does_not_differ_from_itself(stops, end) -> None:  # type: ignore[no-untyped-def]
    one, same = run(stops, end), run(stops, end)
    assert first_difference(one, same) is None


@given(STOPS, STOPS, ENDS, ENDS)
def test_different_runs_differ_at_the_first_stop_that_is_not_the_same(a, b, end, other) -> None:  # type: ignore[no-untyped-def]
    one, two = run(a, end), run(b, other)
    found, back = first_difference(one, two), first_difference(two, one)
    assert (found is None) == (one == two)
    if found and back:
        assert (found.step, found.what) == (back.step, back.what)
        assert (found.a, found.b) == (back.b, back.a)
        for left, right in zip(one.steps[: found.step], two.steps[: found.step], strict=True):
            assert (left.written, left.prompt) == (right.written, right.prompt)


def test_what_differs_is_named() -> None:
    base = [(["one"], "a? "), (["two"], "b? ")]
    same = run(base)
    cases = {
        Difference(1, "print", "two", "2"): run([base[0], (["2"], "b? ")]),
        Difference(1, "print", None, "more"): run([base[0], (["two", "more"], "b? ")]),
        Difference(0, "prompt", "a? ", "A? "): run([(["one"], "A? "), base[1]]),
        Difference(1, "outcome", "in_progress", "success"): run(base, "success"),
    }
    for expected, other in cases.items():
        assert first_difference(same, other) == expected
    assert first_difference(run(base, "error"), run(base, "error", "yes")) == Difference(
        1, "error", "no", "yes"
    )
    spoiled = run(base, "error")
    scored = replace(spoiled, last_error=LastError("no", 3, 0.7))
    assert first_difference(spoiled, scored) == Difference(1, "outcome", 0.5, 0.7)
