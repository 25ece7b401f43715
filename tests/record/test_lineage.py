"""Which branch an answer belongs to, and where branches part."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from quizlog_tui.errors import UsageError
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.branches import forked, noted, renamed, restored_state, switched
from quizlog_tui.record.document import Rendering, from_text
from quizlog_tui.record.lineage import (
    agreements,
    check_branch,
    lineage,
    owner,
    parents_first,
    partings,
)
from quizlog_tui.record.model import Branch, Record
from tests.record.moves import NOTHING, RECORDS


def tree() -> Record:
    """main abcd; left parts at 2 (ab-xyz), deep parts from left at 4 (abxy-q); early at 1."""
    branches = {
        "main": Branch(None, 0, AppendOnlyList("abcd")),
        "left": Branch("main", 2),
        "deep": Branch("left", 4, AppendOnlyList("q")),
        "early": Branch("main", 1, AppendOnlyList("e")),
        "odd": Branch("deep", 1, AppendOnlyList("o")),
    }
    return Record("q.py", 1, AppendOnlyList("abxyz"), 5, branch="left", branches=branches)


def test_a_branch_shares_its_first_answers_with_its_ancestors() -> None:
    assert lineage(tree(), "left") == {"left": 6, "main": 2}
    assert lineage(tree(), "deep") == {"deep": 6, "left": 4, "main": 2}
    assert lineage(tree(), "odd") == {"odd": 3, "deep": 1, "left": 1, "main": 1}


def test_an_answer_is_owned_by_the_branch_that_gave_it() -> None:
    assert [owner(tree(), "deep", at) for at in range(6)] == [
        "main", "main", "left", "left", "deep", "deep",
    ]  # fmt: skip
    assert owner(tree(), "odd", 0) == "main"


def test_branches_part_where_their_answers_do() -> None:
    assert partings(tree(), "left") == {
        "main": (2, "c"), "deep": (4, "q"), "early": (1, "e"), "odd": (1, "o"),
    }  # fmt: skip
    assert partings(tree(), "main") == {
        "left": (2, "x"), "deep": (2, "x"), "early": (1, "e"), "odd": (1, "o"),
    }  # fmt: skip
    assert partings(tree(), "deep")["left"] == (4, "z")
    assert partings(tree(), "odd")["main"] == (1, "b")


@given(RECORDS)
def test_answers_agree_up_to_the_parting(record: Record) -> None:
    for name in record.names:
        path = record.path_of(name)
        for at in range(len(path) + 1):
            assert owner(record, name, at) in lineage(record, name)
        found = partings(record, name)
        assert set(found) == set(record.names) - {name}
        for other, (at, answer) in found.items():
            theirs = record.path_of(other)
            assert record.length_of(other) == len(theirs)
            assert list(path[:at]) == list(theirs[:at])
            assert answer == (theirs[at] if at < len(theirs) else None)


def chain(length: int) -> Record:
    """Branches that leave each other, one after the other, each with an answer of its own."""
    names = ["main", *(f"b{number}" for number in range(length))]
    pairs = enumerate(itertools.pairwise(names), 1)
    branches = {name: Branch(parent, at, AppendOnlyList([name])) for at, (parent, name) in pairs}
    return Record("q.py", 1, AppendOnlyList(["a"]), 1, branches=branches)


@given(RECORDS)
def test_branches_agree_with_a_line_of_answers_as_far_as_they_do(record: Record) -> None:
    for name in record.all_names:
        for path in (record.path_of(name), [*record.path_of(name), "new"], ["new"], []):
            found = agreements(record, path)
            assert set(found) == set(record.all_names)
            for other, count in found.items():
                theirs = record.path_of(other)
                pairs = enumerate(zip(path, theirs, strict=False))
                first = next((at for at, (one, two) in pairs if one != two), None)
                assert count == (min(len(path), len(theirs)) if first is None else first)


@given(RECORDS)
def test_parents_come_before_their_children(record: Record) -> None:
    found = list(parents_first(record))
    assert sorted(found) == sorted(record.all_names)
    for name, branch in record.branches.items():
        assert branch.parent is None or found.index(branch.parent) < found.index(name)


@pytest.mark.long
def test_the_time_for_nested_branches_grows_with_their_number() -> None:
    def cost(length: int, look: Callable[[Record, str], object]) -> float:
        record = chain(length)
        last = record.all_names[-1]
        least = math.inf  # a search for garbage is no cost of this look
        for _ in range(5):
            begun = time.process_time()
            look(record, last)
            least = min(least, time.process_time() - begun)
        return least

    looks: list[Callable[[Record, str], object]] = [
        lambda record, last: from_text(Rendering().text(record), "r.yaml"),
        lambda record, last: record.path_of(last),
        lambda record, last: record.trail_of(last),
        lambda record, last: [record.length_of(name) for name in record.all_names],
        lambda record, last: partings(record, "main"),
        lambda record, last: partings(record, last),
        lambda record, last: agreements(record, record.path_of(last)),
        lambda record, last: restored_state(record, noted(record, last, "x"), NOTHING),
        lambda record, last: restored_state(record, renamed(record, "b0", "new"), NOTHING),
        lambda record, last: restored_state(record, forked(record, 0, "z", None, NOTHING), NOTHING),
        lambda record, last: restored_state(record, switched(record, last, NOTHING), NOTHING),
    ]
    for look in looks:
        assert cost(8000, look) < 30 * cost(800, look) + 0.02


def test_a_wrong_name_is_told_with_all_branches_or_those_like_it() -> None:
    few = Record("q.py", 1, AppendOnlyList(), branches={"blue": Branch("main", 0)})
    many = {f"fork-{number}": Branch("main", 0) for number in range(1000)}
    with pytest.raises(UsageError, match=r"\(did you mean blue\? there are: main, blue\)$"):
        check_branch(few, "bleu")
    with pytest.raises(UsageError) as caught:
        check_branch(replace(few, branches=few.branches | many), "fork 77")
    assert "fork-77" in str(caught.value) and len(str(caught.value)) < 120
    assert str(caught.value).endswith("`quizlog branches` lists all 1002)")


class Counting(dict[str, Branch]):
    looked_up = 0

    def __getitem__(self, name: str) -> Branch:
        self.looked_up += 1
        return super().__getitem__(name)


def test_the_answers_of_branches_that_leave_one_another_are_put_together_once() -> None:
    branches = Counting(
        {
            f"b{i}": Branch(f"b{i - 1}" if i else "main", i, AppendOnlyList([str(i)]))
            for i in range(1000)
        }
    )
    record = Record("quiz.py", 1, branches=branches)
    for index, name in enumerate(branches):
        assert record.path_of(name) == [str(i) for i in range(index + 1)]
        assert record.trail_of(name) == []
    assert branches.looked_up <= 5 * len(branches)


def test_a_record_that_changes_knows_nothing_of_what_another_put_together() -> None:
    branches = {
        "b": Branch("main", 1, AppendOnlyList("y")),
        "c": Branch("b", 2, AppendOnlyList("z")),
    }
    record = Record("quiz.py", 1, AppendOnlyList("ax"), branches=branches)
    assert record.path_of("c") == ["a", "y", "z"]
    assert record.but(inputs=AppendOnlyList("bx")).path_of("c") == ["b", "y", "z"]
