"""Where the player looks and what the next answer does: pure rules, without a screen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.session.session import Session
from quizlog_tui.tui.player.player_state import BisectFinding, Mode, PlayerState, Playhead, state_of
from quizlog_tui.tui.state import State
from quizlog_tui.tui.widgets.scrubber import column_of, step_at
from tests.support.build import Build

QUIZ = "for i in range({questions}): input(f'number {{i}}? ')\n"


def run(build: Build, replayer: Replayer, questions: int, answers: int) -> Transcript:
    path = build.record(QUIZ.format(questions=questions), *map(str, range(1, answers + 1)))
    with Session(path, replayer) as session:
        return session.transcript_of()


@pytest.fixture
def waiting(build: Build, replayer: Replayer) -> PlayerState:
    """Three of four questions are answered; the pointer stands at the second."""
    return state_of(run(build, replayer, 4, 3), pointer=2)


@pytest.fixture
def finished(build: Build, replayer: Replayer) -> PlayerState:
    return state_of(run(build, replayer, 3, 3), pointer=3)


def test_one_looks_at_the_pointer_of_a_run_unless_a_step_is_named(waiting: PlayerState) -> None:
    assert (waiting.step, waiting.head.length, waiting.mode) == (2, 3, "answer")
    assert state_of(waiting.whole, 2, step=9).step == 3


def test_what_is_shown_and_recorded_is_of_the_step_shown(waiting: PlayerState) -> None:
    assert [(waiting.to(at).shown.inputs, waiting.to(at).recorded) for at in (0, 2, 3)] == [
        ((), "1"),
        (("1", "2"), "3"),
        (("1", "2", "3"), None),
    ]


@pytest.mark.parametrize(
    ("mode", "step", "at"), [("fork", 1, 1), ("amend", 1, 1), ("fork", 3, 3), ("amend", 3, 2)]
)
def test_a_fork_begins_at_a_question_and_an_amendment_at_an_answer(
    waiting: PlayerState, mode: Mode, step: int, at: int
) -> None:
    begun = waiting.to(step).begin(mode)
    assert begun is not None and (begun.mode, begun.step) == (mode, at)


@pytest.mark.parametrize("mode", ["fork", "amend"])
def test_at_the_end_of_a_quiz_the_step_before_is_forked_or_amended(
    finished: PlayerState, mode: Mode
) -> None:
    begun = finished.begin(mode)
    assert begun is not None and (begun.mode, begun.step) == (mode, 2)


def test_nothing_begins_where_nothing_is_asked(build: Build, replayer: Replayer) -> None:
    silent = state_of(run(build, replayer, 0, 0), 0)
    assert silent.begin("fork") is None and silent.begin("amend") is None


def test_nothing_is_amended_before_it_is_answered(build: Build, replayer: Replayer) -> None:
    unanswered = state_of(run(build, replayer, 1, 0), 0)
    assert unanswered.begin("amend") is None and unanswered.begin("fork") is not None


def test_to_look_elsewhere_gives_up_what_was_begun_and_to_be_sent_there_does_not(
    waiting: PlayerState,
) -> None:
    begun = waiting.begin("fork")
    assert begun is not None
    assert begun.look(Playhead(1, 3)).mode == begun.give_up().mode == "answer"
    assert (begun.to(1).mode, begun.to(1).step) == ("fork", 1)


def test_a_finding_stays_in_sight_until_it_is_taken_away(waiting: PlayerState) -> None:
    found = waiting.found(BisectFinding("main", ("a",), "main: a at step 0 makes the outcome fail"))
    assert found.look(Playhead(0, 3)).finding == found.finding
    assert found.found(None) == waiting == replace(found, finding=None)


def test_a_finding_holds_while_its_branch_has_the_answers_it_names(build: Build) -> None:
    with Session(build.record("for i in range(3): input()\n", "a", "b", "c")) as session:
        finding = BisectFinding("main", ("a", "b"), "main: b at step 1 makes the outcome fail")
        session.rewind(0)
        assert finding.holds(session.record)
        session.fork(1, "x", "other")
        assert finding.holds(session.record) and session.record.branch == "other"
        session.switch("main")
        session.amend(2, "y")
        assert finding.holds(session.record)
        session.amend(1, "z")
        assert not finding.holds(session.record)
        assert not BisectFinding("gone", (), "").holds(session.record)


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


def test_a_record_that_became_a_loop_of_links_is_remembered_by_its_name(tmp_path: Path) -> None:
    record = tmp_path / "record.yaml"
    record.symlink_to(record)
    state = State(tmp_path / "state.json")
    state.remember(record, 2, 3)
    assert state.place(record) == {"step": 2, "pointer": 3}
