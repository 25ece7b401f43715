"""Renaming, noting, deleting and restoring branches: no walk of moves loses an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from quizlog_tui.errors import UsageError
from quizlog_tui.record.branches import deleted, forked, noted, renamed, restored, switched
from quizlog_tui.record.document import from_text, to_mapping
from quizlog_tui.record.model import Record
from quizlog_tui.record.yaml_text import dump_yaml
from tests.record.moves import MOVES, NOTHING, Move, walk
from tests.support.branched_records import paths, record


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
