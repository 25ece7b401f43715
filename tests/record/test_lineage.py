"""Which branch an answer belongs to, and where branches part."""

from __future__ import annotations

from hypothesis import given

from quizlog_tui.record.lineage import answer_at, lineage, owner, partings
from quizlog_tui.record.model import Branch, Record
from quizlog_tui.series import Series
from tests.record.moves import RECORDS


def tree() -> Record:
    """main abcd; left parts at 2 (ab-xyz), deep parts from left at 4 (abxy-q); early at 1."""
    branches = {
        "main": Branch(None, 0, Series("abcd")),
        "left": Branch("main", 2),
        "deep": Branch("left", 4, Series("q")),
        "early": Branch("main", 1, Series("e")),
        "odd": Branch("deep", 1, Series("o")),
    }
    return Record("q.py", 1, Series("abxyz"), 5, branch="left", branches=branches)


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
    assert partings(tree(), "left") == {"main": 2, "deep": 4, "early": 1, "odd": 1}
    assert partings(tree(), "main") == {"left": 2, "deep": 2, "early": 1, "odd": 1}
    assert answer_at(tree(), "odd", 1) == "o" and answer_at(tree(), "odd", 2) is None


@given(RECORDS)
def test_answers_agree_up_to_the_parting(record: Record) -> None:
    for name in record.names:
        path = record.path_of(name)
        for at in range(len(path) + 1):
            expected = path[at] if at < len(path) else None
            assert answer_at(record, name, at) == expected
            assert owner(record, name, at) in lineage(record, name)
        found = partings(record, name)
        assert set(found) == set(record.names) - {name}
        for other, at in found.items():
            assert list(path[:at]) == list(record.path_of(other)[:at])
