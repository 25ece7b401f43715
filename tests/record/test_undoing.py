"""Going back to an earlier state keeps what was answered since."""

from __future__ import annotations

from hypothesis import given

from quizlog_tui.record.branches import BranchEnd, answered, forked, noted, restored_state
from tests.record.moves import MOVES, NOTHING, THEN, Move, walk
from tests.support.branched_records import paths, record


def test_an_answer_taken_back_stays_ahead_of_the_pointer() -> None:
    before = record("a")
    after = restored_state(before, answered(before, 1, "b", NOTHING), THEN)
    assert (after.pointer, paths(after)) == (1, {"main": ("a", "b")})


def test_a_fork_taken_back_becomes_a_deleted_branch() -> None:
    before = record("a", "b")
    after = restored_state(
        before, forked(before, 1, "x", "other", NOTHING), BranchEnd("error", 0.5, "then")
    )
    assert (after.branch, after.names, after.all_names) == ("main", ["main"], ["main", "other"])
    assert tuple(after.path_of("other")) == ("a", "x")
    entry = after.branches["other"]
    assert (entry.deleted, entry.status, entry.score, entry.at) == ("then", "error", 0.5, 1)


def test_a_retry_taken_back_keeps_both_answers() -> None:
    before = record("a", "bad")
    left = answered(before, 1, "good", NOTHING)
    after = restored_state(before, left, THEN)
    assert paths(after) == {"main": ("a", "bad")}
    assert {tuple(after.path_of(name)) for name in after.all_names} == {("a", "bad"), ("a", "good")}
    assert restored_state(left, after, THEN) == left


def test_what_holds_no_answers_is_simply_put_back() -> None:
    before = record("a")
    assert restored_state(before, noted(before, "main", "x"), THEN) == before


@given(MOVES)
def test_to_and_fro_does_not_grow_the_record(moves: list[Move]) -> None:
    states = [record(), *(state for _, state in walk(moves))]
    one, other = states[0], states[-1]
    here, there = restored_state(one, other, THEN), restored_state(other, one, THEN)
    for _ in range(3):
        assert restored_state(here, there, THEN) == here
        here, there = there, here
