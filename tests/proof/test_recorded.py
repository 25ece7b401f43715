"""Two runs, or a record and a run: equal, or different first at a named stop and in a named way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from quizlog_tui.proof.diverge import Difference, first_difference
from quizlog_tui.proof.recorded import difference_from_record, differs, recorded_branch
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError, Record
from quizlog_tui.replay.transcript import Transcript, extended_trail
from tests.support.recorded_runs import ENDS, STOPS, TEXT, run


def kept(transcript: Transcript, *, marks: bool = True) -> Record:
    """The record of a run; without `marks` as another tool writes it."""
    count = len(transcript.steps)
    made = Record(
        "quiz.py",
        1,
        AppendOnlyList("x" for _ in range(count)),
        count,
        transcript.status,
        transcript.print,
        transcript.last_error,
    )
    trail = extended_trail(made.trail, transcript)
    return replace(made, trail=trail, extras={"world": ["fixed: "]}) if marks else made


def found(record: Record, transcript: Transcript) -> Difference | None:
    return difference_from_record(recorded_branch(record, "main"), transcript)


@given(STOPS, ENDS, st.booleans())
def test_a_run_does_not_differ_from_its_record(stops, end, marks) -> None:  # type: ignore[no-untyped-def]
    assert found(kept(run(stops, end), marks=marks), run(stops, end)) is None


@given(STOPS, STOPS, ENDS, ENDS)
def test_another_run_differs_at_the_first_stop_that_is_not_the_same(a, b, end, other) -> None:  # type: ignore[no-untyped-def]
    one, two = run(a, end), run(b, other)
    expected = first_difference(one, two)
    short = len(one.steps) - len(two.steps)  # a run waits no earlier than its answers end
    assume(short == 0 or (short > 0 and other != "in_progress"))
    told = found(kept(one), two)
    assert (told and told.step) == (expected and expected.step)


@given(STOPS, ENDS, st.data())
def test_text_printed_before_another_question_is_found(stops, end, data) -> None:  # type: ignore[no-untyped-def]
    """The strings and the questions are the same, only between which they stand is not."""
    assume(any(texts for texts, _ in stops[:-1]))
    at = data.draw(st.sampled_from([k for k, (texts, _) in enumerate(stops[:-1]) if texts]))
    moved = [(list(texts), prompt) for texts, prompt in stops]
    moved[at + 1][0].insert(0, moved[at][0].pop())
    told = found(kept(run(stops, end)), run(moved, end))
    assert told is not None and (told.step, told.what) == (at, "print")
    assert (told.a, told.b) == (stops[at][0][-1], None)


@given(STOPS, ENDS, st.data())
def test_no_mark_and_no_string_of_a_record_can_be_changed(stops, end, data) -> None:  # type: ignore[no-untyped-def]
    true = run(stops, end)
    record = kept(true)
    stop = data.draw(st.integers(0, len(stops) - 1))
    marks = list(record.trail)
    marks[stop] = "0" * 12 + marks[stop][12:]
    told = found(replace(record, trail=AppendOnlyList(marks)), true)
    assert told is not None and told.step == stop
    if record.print:
        index = data.draw(st.integers(0, len(record.print) - 1))
        texts = list(record.print)
        texts[index] += "TAMPERED"
        told = found(replace(record, print=AppendOnlyList(texts)), true)
        assert told is not None and (told.what, told.a) == ("print", texts[index])


@given(STOPS, ENDS, st.lists(TEXT, max_size=6), st.integers(0, 4))
def test_strings_are_judged_at_once_as_they_are_stop_by_stop(stops, end, texts, stop) -> None:  # type: ignore[no-untyped-def]
    true = run(stops, end)
    known = replace(recorded_branch(kept(true), "main"), print=AppendOnlyList(texts), stop=stop)
    each = (differs(known, true.upto(k)) for k in range(len(true.steps) + 1))
    assert difference_from_record(known, true) == next(filter(None, each), None)


def test_how_a_record_stands_cannot_be_changed() -> None:
    true = run([(["one"], "a? "), (["two"], "")], "error")
    record = kept(true)
    for field, expected in (
        ({"status": "success"}, Difference(1, "outcome", "success", "error")),
        ({"last_error": LastError("yes", 3, 0.5)}, Difference(1, "error", "yes", "no")),
        ({"last_error": LastError("no", 3, 0.9)}, Difference(1, "outcome", 0.9, 0.5)),
        ({"print": record.print.then("more")}, Difference(1, "print", "more", None)),
    ):
        assert found(replace(record, **field), true) == expected


def test_the_end_of_a_line_is_told_where_the_mark_knows_it() -> None:
    true = run([(["one"], "a? ")])
    bare = replace(true, last=replace(true.last, written=("one",)))
    assert found(kept(true), bare) == Difference(0, "print", "one\n", "one")
    told = found(kept(bare), true)
    assert told is not None and told.a == f"(marked {kept(bare).trail[0][:12]})"


@pytest.mark.parametrize("marks", [True, False])
def test_what_differs_is_named(marks: bool) -> None:
    base = [(["one"], "a? "), (["two"], "b? ")]
    record = kept(run(base), marks=marks)
    for other, expected in (
        (run([(["1"], "a? "), base[1]]), Difference(0, "print", "one", "1")),
        (run([base[0], ([], "b? ")]), Difference(1, "print", "two", None)),
        (run([(["one"], "")], "success"), Difference(0, "outcome", "in_progress", "success")),
        (run([(["one"], "A? "), base[1]]), Difference(0, "prompt", "a? ", "A? ")),
    ):
        assert found(record, other) == (expected if marks or expected.what != "prompt" else None)


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


def test_what_differs_between_two_runs_is_named() -> None:
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
