"""Remarks: read leniently, kept as they are, and staying with the answer they are about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import UsageError
from quizlog_tui.record.branches import answered, forked, remarks_moved, renamed
from quizlog_tui.record.document import from_text, to_mapping
from quizlog_tui.record.feedback import (
    Feedback,
    added,
    on_branch,
    read,
    watches,
    with_watch,
    without_watch,
)
from quizlog_tui.record.model import Record
from quizlog_tui.record.yaml_text import dump_yaml
from tests.record.moves import MOVES, NOTHING, Move, record, walk

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["at", "branch", "author", "time", "verdict", "text", "watch", "more"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=8,
)


def holding(value: Any) -> Record:
    return Record("q.py", 1, extras={"feedback": value})


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, []),
        ("fine", [Feedback(text="fine")]),
        ({"at": 2, "text": "no", "by": "x"}, [Feedback(2, text="no", extras={"by": "x"})]),
        (["a", 3], [Feedback(text="a"), Feedback(text="3")]),
        (
            [{"at": "two", "verdict": 4, "author": "ann"}],
            [Feedback(author="ann", extras={"at": "two", "verdict": 4})],
        ),
        ([{"at": True}], [Feedback(extras={"at": True})]),
        ([{"at": -1}], [Feedback(extras={"at": -1})]),
        ([{"verdict": "superb"}], [Feedback(verdict="superb")]),
    ],
)
def test_what_other_tools_wrote_is_read_as_far_as_it_goes(
    value: Any, found: list[Feedback]
) -> None:
    assert read(holding(value)) == found


@given(ANYTHING)
def test_anything_is_read_and_kept(value: Any) -> None:
    start = holding(value)
    after = added(start, Feedback(0, None, None, "now", "right"))
    old = value if isinstance(value, list) else [] if value is None else [value]
    assert list(after.extras["feedback"])[:-1] == old
    assert len(read(after)) == len(old) + 1
    assert list(on_branch(after, "main", read(after)))[-1].verdict == "right"
    remarks_moved(after, "main", "other")


def test_a_remark_goes_to_the_branch_that_gave_the_answer() -> None:
    state = forked(record("a", "b"), 1, "x", "other", NOTHING)
    state = added(state, Feedback(0, None, "ann", "t", "right", "shared"))
    state = added(state, Feedback(1, None, "ann", "t", "wrong", "own"))
    assert [(said.at, said.branch) for said in read(state)] == [(0, "main"), (1, "other")]
    assert [said.text for said in on_branch(state, "main", read(state))] == ["shared"]
    assert [said.text for said in on_branch(state, "other", read(state))] == ["shared", "own"]


def test_a_remark_stays_with_its_answer_when_the_tail_is_left() -> None:
    state = added(record("a", "bad"), Feedback(1, None, None, "t", "wrong", "this"))
    after = answered(state, 1, "good", NOTHING)
    assert [(said.at, said.branch) for said in read(after)] == [(1, "main-1")]
    assert not list(on_branch(after, "main", read(after)))


def test_remarks_follow_a_rename() -> None:
    state = added(record("a"), Feedback(0, None, None, "t", "right", ""))
    state = added(state, Feedback(None, None, None, "t", None, "all of it"))
    assert {said.branch for said in read(renamed(state, "main", "first"))} == {"first"}


def test_the_written_entry_is_that_of_the_design() -> None:
    state = added(record("a"), Feedback(0, None, "ann", "t", "wrong", "why"))
    assert to_mapping(from_text(dump_yaml(to_mapping(state)), "r"))["feedback"] == [
        {"at": 0, "branch": "main", "author": "ann", "time": "t", "verdict": "wrong", "text": "why"}
    ]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (Feedback(2, text="x"), "no step 2: main has 1 answer"),
        (Feedback(-1, text="x"), "no step -1"),
        (Feedback(0, branch="nobody", text="x"), "no branch 'nobody'"),
        (Feedback(0, verdict="superb", text="x"), "no verdict 'superb'"),
        (Feedback(0), "says nothing"),
    ],
)
def test_impossible_remarks_are_refused(said: Feedback, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        added(record("a"), said)


@given(MOVES, MOVES)
def test_a_remark_stays_with_the_answer_it_was_made_on(
    before: list[Move], then: list[Move]
) -> None:
    """Each remark says the answer it is on; no move carries it to another."""
    *_, state = [record(), *(after for kind, after in walk(before) if kind != "comment")]
    state = replace(state, extras={})
    for name in state.all_names:
        for at, answer in enumerate(state.path_of(name)):
            state = added(state, Feedback(at, name, None, "t", None, answer))
    count = len(read(state))
    for _, after in walk([move for move in then if move[0] != "comment"], state):
        assert len(read(after)) == count
        for said in read(after):
            assert said.branch is not None and said.at is not None
            assert after.path_of(said.branch)[said.at] == said.text


NOW = "2026-11-27T12:00:00+00:00"


def test_watched_expressions_are_entries_that_are_no_remarks() -> None:
    before = holding([{"at": 0, "text": "fine"}])
    found = with_watch(with_watch(before, "len(x)", "ann", NOW), "y", None, NOW)
    assert found.extras["feedback"][1:] == [
        {"watch": "len(x)", "author": "ann", "time": NOW},
        {"watch": "y", "time": NOW},
    ]
    assert watches(found) == ["len(x)", "y"]
    assert read(found) == read(before)
    again = from_text(dump_yaml(to_mapping(found)), "record.yaml")
    assert watches(again) == ["len(x)", "y"]
    assert with_watch(found, "y", "bob", NOW) == found
    assert without_watch(without_watch(found, "y"), "len(x)") == before


def test_the_last_watched_expression_leaves_nothing() -> None:
    empty = Record("q.py", 1)
    assert without_watch(with_watch(empty, "x", None, NOW), "x") == empty
    with pytest.raises(UsageError, match="'y' is not watched"):
        without_watch(with_watch(empty, "x", None, NOW), "y")


@pytest.mark.parametrize(
    ("entry", "remarks"),
    [
        ({"watch": "x"}, 0),
        ({"watch": "x", "at": 3, "more": 1}, 0),
        ({"watch": 3}, 1),
        ({"watch": "x", "text": "see there"}, 1),
        ({"watch": "x", "verdict": "wrong"}, 1),
    ],
)
def test_what_says_something_is_a_remark(entry: dict[str, Any], remarks: int) -> None:
    found = holding([entry])
    assert len(read(found)) == remarks
    assert watches(found) == (["x"] if not remarks else [])
