"""What is known of the steps of an open record, kept up while it grows."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quizlog_tui.record.who import Giver
from quizlog_tui.session.session import Session
from quizlog_tui.tui.known_steps import KnownSteps
from tests.support.build import Build

MOVES = st.tuples(st.sampled_from(["answer", "fork", "amend", "undo", "look"]), st.integers(0, 9))


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(moves=st.lists(MOVES, max_size=12))
def test_efforts_kept_up_are_those_found_anew(moves: list[tuple[str, int]], build: Build) -> None:
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
