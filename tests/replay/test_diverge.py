"""The first difference between runs: named by step and kind, and only where something differs."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.record.model import LastError, Record
from quizlog_tui.replay.diverge import Difference, difference_from_record, first_difference
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.series import Series

TEXT = st.text("ab\n", max_size=3)
STOPS = st.lists(st.tuples(st.lists(TEXT, max_size=2), TEXT), min_size=1, max_size=5)
ENDS = st.sampled_from(["in_progress", "success", "error"])


def run(
    stops: list[tuple[list[str], str]], end: str = "in_progress", message: str = "no"
) -> Transcript:
    made = [Step(prompt, tuple(f"{t}\n" for t in texts), "", 1, "x") for texts, prompt in stops]
    last = replace(made.pop(), input=None)
    if end != "in_progress":
        last = replace(last, prompt=None)
    printed = Series(text for step in (*made, last) for text in step.print)
    error = LastError(message, 3, 0.5) if end == "error" else None
    kind = "ValueError" if error else None
    return Transcript(Series(made), last, end, error, error_type=kind, print=printed)  # type: ignore[arg-type]


def kept(transcript: Transcript) -> Record:
    count = len(transcript.steps)
    inputs = Series("x" for _ in range(count))
    printed, error = transcript.print, transcript.last_error
    return Record("quiz.py", 1, inputs, count, transcript.status, printed, error)


@given(STOPS, ENDS)
def test_a_run_does_not_differ_from_itself_or_its_record(stops, end) -> None:  # type: ignore[no-untyped-def]
    one, same = run(stops, end), run(stops, end)
    assert first_difference(one, same) is None
    assert difference_from_record(kept(one), same, [s.prompt or "" for s in one.steps]) is None


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


def test_what_differs_from_a_record_is_named() -> None:
    base = [(["one"], "a? "), (["two"], "b? ")]
    record = kept(run(base))
    assert difference_from_record(record, run([(["1"], "a? "), base[1]])) == Difference(
        0, "print", "one", "1"
    )
    assert difference_from_record(record, run([base[0], ([], "b? ")])) == Difference(
        1, "print", "two", None
    )
    assert difference_from_record(record, run([(["one"], "A? "), base[1]]), ["a? "]) == Difference(
        0, "prompt", "a? ", "A? "
    )
    assert difference_from_record(record, run([(["one"], "")], "success")) == Difference(
        0, "outcome", "in_progress", "success"
    )
