"""Moves of the playhead: pure rules, held by properties."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.tui.playhead import Playhead
from quizlog_tui.tui.widgets.scrubber import column_of, step_at

EVENTS = [2, 1, 4, 1]


def events(step: int) -> int:
    return EVENTS[step]


def test_events_go_through_every_text_and_question_once() -> None:
    head, seen = Playhead(0, 3, hidden=1), []
    for _ in range(8):
        seen.append((head.step, head.hidden))
        head = head.event(1, events)
    assert seen == [(0, 1), (0, 0), (1, 0), (2, 3), (2, 2), (2, 1), (2, 0), (3, 0)]
    assert head == Playhead(3, 3)


@given(st.integers(0, 3), st.data())
def test_an_event_forward_and_back_is_where_one_was(step: int, data: st.DataObject) -> None:
    head = Playhead(step, 3, data.draw(st.integers(0, events(step) - 1)))
    forward = head.event(1, events)
    if forward != head and forward.step == head.step:
        assert forward.event(-1, events) == head
    back = head.event(-1, events)
    assert (back.step, -back.hidden) <= (head.step, -head.hidden)


@given(st.integers(-5, 10), st.integers(0, 5))
def test_a_step_is_never_outside(step: int, length: int) -> None:
    head = Playhead(0, length).to(step)
    assert 0 <= head.step <= length and head.hidden == 0


@given(st.lists(st.integers(0, 9), unique=True), st.integers(0, 9))
def test_marks_are_the_nearest_in_that_direction(marks: list[int], step: int) -> None:
    head = Playhead(step, 9)
    after, before = head.mark(1, marks).step, head.mark(-1, marks).step
    assert after == min([at for at in marks if at > step], default=step)
    assert before == max([at for at in marks if at < step], default=step)


@given(st.integers(1, 200), st.integers(2, 120))
def test_the_slider_finds_its_own_columns(length: int, columns: int) -> None:
    assert column_of(0, length, columns) == 0
    assert column_of(length, length, columns) == columns - 1
    for column in range(columns):
        step = step_at(column, length, columns)
        assert 0 <= step <= length
        if length >= columns:
            assert column_of(step, length, columns) == column
