"""What is known of the steps of an open record, kept up while it grows; which have decisions."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Branch, Record
from quizlog_tui.record.who import Giver
from quizlog_tui.session.session import Session
from quizlog_tui.solver.decision import Decision, ModelQuestion
from quizlog_tui.tui.player.known_steps import KnownSteps, decisions_by_step, nearest
from tests.support.build import Build

MOVES = st.tuples(st.sampled_from(["answer", "fork", "amend", "undo", "look"]), st.integers(0, 9))


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(moves=st.lists(MOVES, max_size=12))
def test_efforts_and_marks_kept_up_are_those_found_anew(
    moves: list[tuple[str, int]], build: Build
) -> None:
    path = build.folder / "walk.yaml"
    path.unlink(missing_ok=True)
    build.record("while True: print(input('? '))\n", name=path.name)
    with Session(path) as session:
        known = KnownSteps(session)
        for move, number in moves:
            if move == "answer":
                session.answer(str(number), giver=Giver("screen", "person", f"p{number % 3}"))
            elif move == "fork" and session.pointer:
                session.fork(number % session.pointer, f"other {number}")
            elif move == "amend" and session.pointer:
                session.amend(number % session.pointer, f"amended {number}")
            elif move == "undo" and session.can_undo:
                session.undo()
            whole = session.transcript_of()
            assert known.efforts(whole) == KnownSteps(session).efforts(whole)
            assert known.marks(whole) == KnownSteps(session).marks(whole)


ANSWERS = AppendOnlyList(["a", "b", "c"])
MAIN = Record("quiz.py", 1, ANSWERS, 3)
FORK = Record(
    "quiz.py", 1, AppendOnlyList(["a", "x"]), 2, branch="fork",
    branches={"main": Branch(None, 0, ANSWERS), "fork": Branch("main", 1)},
)  # fmt: skip


def model_work_by_step(*places: tuple[str | None, int | None]) -> list[Decision]:
    """Decisions asked at these branches and steps."""
    return [
        Decision(f"d-{n}", "now", ModelQuestion("?", branch=branch, pointer=pointer))
        for n, (branch, pointer) in enumerate(places)
    ]


@pytest.mark.parametrize(
    ("record", "place", "here"),
    [
        (MAIN, ("main", 0), True),
        (MAIN, ("main", 3), True),
        (MAIN, ("main", None), False),
        (MAIN, (None, 2), True),
        (MAIN, ("fork", 1), False),
        (FORK, ("main", 0), True),
        (FORK, ("main", 1), True),
        (FORK, ("main", 2), False),
        (FORK, ("fork", 2), True),
    ],
)
def test_a_branch_has_its_own_questions_and_those_it_shares(
    record: Record, place: tuple[str | None, int | None], here: bool
) -> None:
    assert bool(decisions_by_step(model_work_by_step(place), record)) is here


def test_steps_come_in_order_with_all_their_decisions() -> None:
    found = model_work_by_step(("main", 2), ("main", 0), ("main", 2), ("gone", 1))
    assert list(decisions_by_step(found, MAIN).items()) == [(0, [1]), (2, [0, 2])]


def test_the_nearest_is_the_last_of_the_step_or_of_one_before() -> None:
    found = model_work_by_step(("main", 2), ("main", 1), ("main", 2))
    assert [nearest(found, MAIN, step) for step in range(4)] == [1, 1, 2, 2]
    assert nearest(model_work_by_step(("gone", 1)), MAIN, 1) == 0
