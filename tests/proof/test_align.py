"""Two runs side by side: every stop appears once, in order, next to the one it belongs to."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.proof.compare import Span, align, words
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from quizlog_tui.replay.transcript import Step, Transcript

Stop = tuple[str, str, str]
STOPS = st.lists(st.tuples(*[st.sampled_from("ab")] * 3), min_size=1, max_size=8)


def run(*stops: Stop, status: str = "in_progress") -> Transcript:
    """A run whose stops print, ask, and are answered; the last one is not."""
    made = [Step(prompt, (f"{text}\n",), "", 1, answer) for text, prompt, answer in stops]
    last = replace(made.pop(), input=None)
    if status != "in_progress":
        last = replace(last, prompt=None)
    return Transcript(AppendOnlyList(made), last, status)  # type: ignore[arg-type]


def kinds(a: Transcript, b: Transcript) -> list[tuple[str, int | None, int | None]]:
    return [(row.kind, row.index_a, row.index_b) for row in align(a, b)]


@given(STOPS, STOPS)
def test_each_stop_of_both_appears_once_and_in_order(a: list[Stop], b: list[Stop]) -> None:
    one, two = run(*a), run(*b)
    rows = align(one, two)
    assert [row.a for row in rows if row.a] == [*one.steps, one.last]
    assert [row.b for row in rows if row.b] == [*two.steps, two.last]
    assert [row.index_a for row in rows if row.a] == list(range(len(a)))
    assert [row.index_b for row in rows if row.b] == list(range(len(b)))
    for row in rows:
        assert (row.kind == "same") == (row.a == row.b)
        assert (row.kind == "only-a") == (row.b is None)
        assert (row.kind == "only-b") == (row.a is None)


@given(STOPS, STOPS)
def test_the_same_beginning_is_the_same_rows(a: list[Stop], b: list[Stop]) -> None:
    rows = align(run(*a, *a), run(*a, *b))
    assert all(row.kind == "same" for row in rows[: len(a)])


def test_steps_that_belong_together_are_side_by_side() -> None:
    base = [("1", "a? ", "x"), ("2", "b? ", "y"), ("3", "c? ", "z")]
    extra = [base[0], ("new", "q? ", "n"), *base[1:]]
    same = [("same", 0, 0), ("same", 1, 1), ("same", 2, 2)]
    assert kinds(run(*base), run(*base)) == same
    assert kinds(run(*base), run(*extra)) == [
        ("same", 0, 0), ("only-b", None, 1), ("same", 1, 2), ("same", 2, 3),
    ]  # fmt: skip
    assert kinds(run(*extra), run(*base))[1] == ("only-a", 1, None)
    other_answer = [("1", "a? ", "other"), *base[1:]]
    assert kinds(run(*base), run(*other_answer)) == [("changed", 0, 0), *same[1:]]
    other_print = [("1", "a? ", "x"), ("9", "b? ", "y"), ("8", "new? ", "y"), base[2]]
    assert kinds(run(*base), run(*other_print)) == [
        ("same", 0, 0), ("changed", 1, 1), ("only-b", None, 2), ("same", 2, 3),
    ]  # fmt: skip


def test_other_ends_of_the_same_steps_are_changed() -> None:
    steps = [("1", "a? ", "x"), ("2", "", "")]
    good, bad = run(*steps, status="success"), run(*steps, status="error")
    assert kinds(good, good)[-1] == ("same", 1, 1)
    assert kinds(good, bad)[-1] == ("changed", 1, 1)
    told = [replace(bad, last_error=LastError("no", 1, score)) for score in (0.1, 0.2)]
    assert kinds(*told)[-1] == ("changed", 1, 1)


def without(text: str, spans: list[Span]) -> str:
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


@given(st.text("ab 1.é\n", max_size=30), st.text("ab 1.é\n", max_size=30))
def test_words_are_all_that_differs(a: str, b: str) -> None:
    spans_a, spans_b = words(a, b)
    assert without(a, spans_a) == without(b, spans_b)
    assert (a == b) == (not spans_a and not spans_b)
    assert spans_a == sorted(spans_a) and all(start < end for start, end in spans_a)


def test_words_are_whole_and_few() -> None:
    a, b = "The total is 12 apples.", "The sum is 15 apples."
    spans_a, spans_b = words(a, b)
    assert [a[i:j] for i, j in spans_a] == ["total", "12"]
    assert [b[i:j] for i, j in spans_b] == ["sum", "15"]
    assert words("What is 2+2? ", "What is 2+3? ") == ([(10, 11)], [(10, 11)])


def test_long_texts_and_runs_are_laid_out_too() -> None:
    a, b = ("x " * 50_000, "y " * 50_000)
    long = run(*[(str(i), "q", "") for i in range(5_000)])
    other = run(*[(str(-i), "q", "") for i in range(5_000)])
    assert words(a, b) == ([(0, len(a) - 1)], [(0, len(b) - 1)])
    assert len(align(long, other)) == 5_000


def test_the_time_for_runs_that_differ_everywhere_grows_with_their_length() -> None:
    def cost(length: int) -> float:
        a, b = (
            run(*[(f"{n}, you said {word}{n}", f"{n}? ", f"{word}{n}") for n in range(length)])
            for word in "ab"
        )
        least = math.inf  # a search for garbage is no cost of this
        for _ in range(3):
            begun = time.process_time()
            assert {row.kind for row in align(a, b)} == {"changed"}
            pairs = zip(a.steps, b.steps, strict=True)
            assert all(words(one.written[0], other.written[0])[0] for one, other in pairs)
            least = min(least, time.process_time() - begun)
        return least

    assert cost(8000) < 30 * cost(800) + 0.02
