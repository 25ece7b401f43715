"""The rules by which branches change: nothing that was answered is ever lost, or lost by an undo."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import UsageError
from quizlog_tui.record.branches import (
    BranchEnd,
    answered,
    deleted,
    forked,
    noted,
    renamed,
    replanted,
    restored,
    restored_state,
    rewound,
    switched,
)
from quizlog_tui.record.document import from_text, to_mapping
from quizlog_tui.record.model import Record
from quizlog_tui.record.yaml_text import dump_yaml
from tests.record.moves import MOVES, NOTHING, THEN, Move, moved, paths, record, walk


def test_an_answer_at_the_end_is_added() -> None:
    assert paths(answered(record("a"), 1, "b", NOTHING)) == {"main": ("a", "b")}


def test_the_recorded_answer_is_a_step_forward() -> None:
    after = answered(record("a", "b", "c", pointer=1), 1, "b", NOTHING)
    assert (after.pointer, paths(after)) == (2, {"main": ("a", "b", "c")})


def test_another_answer_keeps_the_tail_as_a_branch() -> None:
    after = answered(record("a", "b", "c"), 1, "x", BranchEnd("error", 0.4, "now"))
    assert paths(after) == {"main": ("a", "x"), "main-1": ("a", "b", "c")}
    tail = after.branches["main-1"]
    assert (tail.parent, tail.at, list(tail.inputs)) == ("main", 1, ["b", "c"])
    assert (tail.status, tail.score, tail.created) == ("error", 0.4, "now")


def test_a_fork_is_a_new_active_branch() -> None:
    after = forked(record("a", "b"), 1, "x", "other", BranchEnd("success", 1.0))
    assert after.branch == "other"
    assert paths(after) == {"main": ("a", "b"), "other": ("a", "x")}
    assert after.branches["main"].status == "success"


def test_switching_there_and_back_changes_nothing() -> None:
    start = forked(record("a", "b"), 1, "x", "other", NOTHING)
    back = switched(switched(start, "main", NOTHING), "other", NOTHING)
    assert paths(back) == paths(start)
    assert back.branch == "other"


def test_branches_of_a_left_tail_move_with_it() -> None:
    start = switched(forked(record("a", "b", "c"), 2, "x", "deep", NOTHING), "main", NOTHING)
    after = answered(start, 1, "y", NOTHING)
    assert paths(after) == {"main": ("a", "y"), "deep": ("a", "b", "x"), "main-1": ("a", "b", "c")}


def test_answering_before_the_fork_point_moves_it() -> None:
    start = forked(record("a", "b", "c"), 2, "x", "other", NOTHING)
    after = answered(start, 0, "z", NOTHING)
    assert paths(after) == {
        "main": ("a", "b", "c"),
        "other": ("z",),
        "other-1": ("a", "b", "x"),
    }


@pytest.mark.parametrize("name", ["", "has space", "at@sign", "main", "other", "x" * 101, "nl\n"])
def test_unusable_names_are_refused(name: str) -> None:
    start = switched(forked(record("a"), 0, "x", "other", NOTHING), "main", NOTHING)
    with pytest.raises(UsageError):
        forked(start, 0, "y", name, NOTHING)


@pytest.mark.parametrize("pointer", [-1, 3])
def test_steps_that_do_not_exist_are_refused(pointer: int) -> None:
    with pytest.raises(UsageError, match="there is no step"):
        rewound(record("a", "b"), pointer)


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["answer", "rewind", "fork", "switch"]),
        st.integers(0, 6),
        st.sampled_from("xyz"),
    ),
    max_size=14,
)


def shown(state: Record, version: int) -> Record:
    """The record after its script ran: a mark for each stop it has not seen yet."""
    stops = range(len(state.trail), state.pointer + 1)
    marks = (f"{version} {'/'.join(state.inputs[:stop])}" for stop in stops)
    return replace(state, trail=state.trail.then(*marks))


@given(CHANGES, st.lists(st.integers(0, 14), max_size=3))
def test_the_marks_of_each_line_are_those_of_its_own_stops(
    moves: list[tuple[str, int, str]], edits: list[int]
) -> None:
    state, version, seen = shown(record(), 0), 0, {()}
    for index, (move, number, letter) in enumerate(moves):
        if index in edits:
            version += 1
            agreed = min(number, len(state.inputs), max(len(state.trail) - 1, 0))
            state = replanted(state, agreed, NOTHING)
            assert len(state.inputs) == agreed and len(state.trail) <= agreed
        else:
            state = moved(state, move, number, letter)
        state = shown(state, version)
        seen.add(tuple(state.inputs))
        for line in seen:
            assert any(path[: len(line)] == line for path in paths(state).values())
        for name in state.names:
            path = state.path_of(name)
            assert len(state.trail_of(name)) <= len(path) + 1
            for stop, marked in enumerate(state.trail_of(name)):
                assert marked.partition(" ")[2] == "/".join(path[:stop]), name
        again = from_text(dump_yaml(to_mapping(state)), "r")
        assert [again.trail_of(n) for n in again.names] == [state.trail_of(n) for n in state.names]


def test_a_thousand_nested_forks_are_no_trouble() -> None:
    state = record("a")
    for index in range(1100):  # deeper than Python recurses
        state = forked(state, len(state.inputs), str(index), None, NOTHING)
    assert len(state.path_of("main")) == 1
    assert len(switched(state, "fork-1099", NOTHING).inputs) == 1100


def two() -> Record:
    return forked(record("a", "b"), 1, "x", "other", NOTHING)


def test_children_and_the_active_name_follow_a_rename() -> None:
    after = renamed(two(), "main", "first")
    assert paths(after) == {"first": ("a", "b"), "other": ("a", "x")}
    assert after.branches["other"].parent == "first"
    after = renamed(after, "other", "second")
    assert (after.branch, after.names) == ("second", ["first", "second"])


def test_the_first_branch_can_be_renamed_before_there_is_another() -> None:
    after = renamed(record("a"), "main", "first")
    assert (after.branch, paths(after)) == ("first", {"first": ("a",)})
    assert paths(from_text(dump_yaml(to_mapping(after)), "r")) == {"first": ("a",)}


@pytest.mark.parametrize(
    ("name", "new", "said"),
    [
        ("main", "other", "already"),
        ("main", "has space", "cannot name"),
        ("main", "", "cannot name"),
        ("nobody", "x", "no branch 'nobody'"),
    ],
)
def test_impossible_renames_are_refused(name: str, new: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        renamed(two(), name, new)


def test_a_rename_to_the_same_name_changes_nothing() -> None:
    assert renamed(two(), "main", "main") == two()


def test_a_note_is_set_and_taken_away() -> None:
    after = noted(noted(record("a"), "main", "first try"), "main", "second")
    assert after.branches["main"].note == "second"
    assert noted(after, "main", "").branches["main"].note is None


def test_a_deleted_branch_is_hidden_and_its_children_stay() -> None:
    state = forked(two(), 2, "y", "child", NOTHING)
    after = deleted(state, "other", "now")
    assert (after.names, after.all_names) == (["main", "child"], ["main", "other", "child"])
    assert tuple(after.path_of("child")) == ("a", "x", "y")
    again = from_text(dump_yaml(to_mapping(after)), "r")
    assert again == after and again.branches["other"].deleted == "now"
    with pytest.raises(UsageError, match="deleted"):
        switched(after, "other", NOTHING)
    with pytest.raises(UsageError, match="already, deleted"):
        forked(after, 0, "z", "other", NOTHING)
    assert restored(after, "other") == state


def test_the_active_branch_cannot_be_deleted_nor_hidden_by_another_tool() -> None:
    with pytest.raises(UsageError, match="active"):
        deleted(two(), "other", "now")
    entry = replace(two().branches["other"], deleted="now")
    foreign = replace(two(), branches={**two().branches, "other": entry})
    assert "other" in from_text(dump_yaml(to_mapping(foreign)), "r").names


@given(MOVES)
def test_no_walk_ever_loses_an_answer(moves: list[Move]) -> None:
    seen: set[tuple[str, ...]] = set()
    for _, state in walk(moves):
        kept = {tuple(state.path_of(name)) for name in state.all_names}
        seen.add(tuple(state.inputs))
        for line in seen:
            assert any(path[: len(line)] == line for path in kept), (line, kept)
        assert state.branch in state.names
        again = from_text(dump_yaml(to_mapping(state)), "r")
        assert {name: again.path_of(name) for name in again.all_names} == {
            name: state.path_of(name) for name in state.all_names
        }


@given(MOVES)
def test_names_stay_unique_and_parents_exist(moves: list[Move]) -> None:
    for _, state in walk(moves):
        assert len(set(state.all_names)) == len(state.all_names)
        for branch in state.branches.values():
            assert branch.parent is None or branch.parent in state.all_names


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
