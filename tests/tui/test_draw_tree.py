"""The tree of branches: its lines, its columns, what is said of one branch."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.session.reply import BranchInfo
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw.tree import TreeRow, branch_detail, tree_grid, tree_rows


def branch(
    name: str, parent: str | None = None, at: int = 0, *, deleted: str | None = None
) -> BranchInfo:
    return BranchInfo(name, name == "main", parent, at, at + 2, "error", 0.5, None, None, deleted)


def labels(*branches: BranchInfo, deleted: bool = False) -> list[str]:
    return [row.label for row in tree_rows(branches, deleted=deleted)]


FAMILY = (
    branch("main"),
    branch("late", "main", 3),
    branch("early", "main", 1),
    branch("child", "early", 2),
    branch("last", "late", 4),
)


def test_children_hang_below_their_parents_those_that_leave_earlier_first() -> None:
    assert labels(*FAMILY) == [
        "* main",
        "├─early",
        "│ └─child",
        "└─late",
        "  └─last",
    ]


def test_what_left_a_deleted_branch_hangs_from_the_nearest_one_shown() -> None:
    hidden = [replace(each, deleted="now") if each.name == "early" else each for each in FAMILY]
    rows = {row.branch.name: row for row in tree_rows(hidden)}
    assert "early" not in rows
    assert (rows["child"].under, rows["child"].at) == ("main", 1)
    assert labels(*hidden, deleted=True) == labels(*FAMILY)


def test_a_branch_that_left_before_its_parent_had_answers_hangs_from_the_one_before() -> None:
    sister = branch("sister", "early", 1)
    rows = {row.branch.name: row for row in tree_rows([*FAMILY, sister])}
    assert (rows["sister"].under, rows["sister"].at) == ("main", 1)


def test_names_that_differ_in_what_shows_nothing_are_told_apart() -> None:
    names = ["main", "ma\u200cin", "main\u3164", "main\ufe0f", "main\U000e0100", "✔", "✔\ufe0f"]
    rows = tree_rows([branch(name, None if name == "main" else "main", 1) for name in names])
    shown = {row.branch.name: row.name for row in rows}
    assert list(shown.values()) == [
        "main", r"ma\u200cin", r"main\u3164", r"main\ufe0f", r"main\U000e0100", "✔", r"✔\ufe0f"
    ]  # fmt: skip
    grid = tree_grid(rows, FrozenClock())
    grid.starts(100)
    assert [shown[row.branch.name] in grid[at].text for at, row in enumerate(rows)] == [True] * 7
    assert branch_detail(rows[6], [], FrozenClock())[0].text.startswith(r"✔\ufe0f ·")


def test_a_deleted_active_branch_is_shown() -> None:
    assert labels(replace(FAMILY[0], deleted="now")) == ["* main"]


@st.composite
def families(draw: st.DrawFn) -> list[BranchInfo]:
    found = [branch("main")]
    for number in range(draw(st.integers(0, 30))):
        parent = draw(st.sampled_from(found)).name
        hidden = "now" if draw(st.booleans()) else None
        found.append(branch(f"b{number}", parent, draw(st.integers(0, 5)), deleted=hidden))
    return draw(st.permutations(found))


@given(families(), st.booleans())
def test_every_branch_shown_is_there_once_below_what_it_hangs_from(
    found: list[BranchInfo], deleted: bool
) -> None:
    rows = tree_rows(found, deleted=deleted)
    seen: set[str | None] = {None}
    for row in rows:
        assert row.under in seen and row.at <= row.branch.at
        seen.add(row.branch.name)
    assert len(rows) == sum(1 for each in found if deleted or each.active or not each.deleted)


def test_two_thousand_branches_also_in_one_long_line() -> None:
    line = [
        branch("main"),
        *(branch(f"b{n}", f"b{n - 1}" if n else "main", n) for n in range(2000)),
    ]
    fan = [branch("main"), *(branch(f"b{n}", "main", n) for n in range(2000))]
    for family in (line, fan):
        rows = tree_rows(family)
        grid = tree_grid(rows, FrozenClock())
        grid.starts(56)
        assert len(rows) == 2001 and max(len(row.lead) for row in rows) <= 24
        assert all(grid[index].text for index in range(len(grid)))
    assert tree_rows(line)[-1].lead.startswith("⋯")


def rows(width: int, *branches: BranchInfo, deleted: bool = False) -> list[str]:
    grid = tree_grid(tree_rows(branches, deleted=deleted), FrozenClock())
    grid.starts(width)
    return [grid[index].text.rstrip() for index in range(len(grid))]


def test_a_row_says_where_it_left_how_long_how_it_ended_and_the_note() -> None:
    other = replace(branch("other", "main", 1), note="a try", created="2026-01-01T00:00:00+00:00")
    gone = branch("gone", "main", 2, deleted="2026-01-01T00:00:00+00:00")
    assert rows(90, branch("main"), other, gone, deleted=True) == [
        "* main                       2  ✗ error 0.5",
        "├─other       step 1         3  ✗ error 0.5    just now    a try",
        "└─gone        step 2         4  ␡ deleted",
    ]


def detail(row: TreeRow, *path: str) -> list[str]:
    found = branch_detail(row, path, FrozenClock())
    assert len(found.starts(60)) == len(found) + 1
    return [found[index].text for index in range(len(found))]


def test_the_detail_has_the_note_and_marks_where_the_branch_left() -> None:
    other = replace(branch("other", "main", 1), note="two\nlines", deleted="yesterday")
    assert detail(tree_rows([branch("main"), other], deleted=True)[1], "a", "", "c") == [
        "other · ✗ error, score 0.5",
        "3 answers, leaves main at step 1",
        "deleted yesterday; U restores it",
        "✎ two\nlines",
        "",
        "   0 a",
        "  ┬ leaves main",
        "   1 (empty)",
        "   2 c",
    ]
    assert detail(tree_rows([branch("main")])[0], "a", "b")[-2:] == ["   0 a", "   1 b"]


def test_foreign_text_is_made_visible() -> None:
    evil = "\x1b]0;x\x07\x9b31m\u202e"
    one = replace(branch("main"), name=evil, active=True, note=evil, created=evil, deleted=evil)
    text = "".join(rows(120, one, deleted=True)) + "".join(detail(tree_rows([one])[0], evil))
    assert not set(text) & set(evil[:1] + "\x07\x9b\u202e")
