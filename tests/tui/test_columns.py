"""Columns: rows of exactly the width there is, whatever stands in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quizlog_tui.tui.widgets.columns import GAP, Grid, cells_line, column_at, fitted, layout, widest

TEXT = st.text(max_size=30) | st.sampled_from(["日本語のテスト", "\x1b[31m", "a\nb\tc", "é" * 20])


@given(TEXT, st.integers(0, 40), st.booleans())
def test_a_cell_is_exactly_as_wide_as_wanted(text: str, width: int, end: bool) -> None:
    cell = fitted(text, width, end=end)
    assert cell_len(cell) == width
    assert not set(cell) & set("\x1b\n\t\x07\x9b")


def test_a_cut_cell_says_so() -> None:
    assert fitted("abcdefgh", 5) == "abcd…"
    assert fitted("abcdefgh", 5, end=True) == "…efgh"
    assert fitted("abc", 5) == "abc  "


@given(st.lists(TEXT))
def test_the_widest_is_the_widest(texts: list[str]) -> None:
    for text in texts:
        assert fitted(text, widest(texts)).rstrip() == fitted(text, 200).rstrip()


@given(
    st.integers(1, 200),
    st.lists(st.integers(1, 60), min_size=1, max_size=6),
    st.data(),
)
def test_a_layout_never_takes_more_than_there_is(
    width: int, widths: list[int], data: st.DataObject
) -> None:
    columns = {f"c{at}": each for at, each in enumerate(widths)}
    names = data.draw(st.lists(st.sampled_from(sorted(columns)), min_size=1, unique=True))
    least = {name: data.draw(st.integers(1, columns[name])) for name in names}
    found = layout(width, columns, least)
    total = sum(found.values()) + GAP * (len(found) - 1)
    assert total <= width or found[names[0]] == 1
    assert list(found) == [name for name in columns if name in found]
    assert names[0] in found and set(columns) - set(names) <= set(found)
    if width >= sum(columns.values()) + GAP * (len(columns) - 1):
        assert found == columns


@pytest.mark.parametrize(
    ("cell", "column"), [(-1, None), (0, "a"), (4, "a"), (5, "b"), (9, "b"), (10, None)]
)
def test_a_click_finds_its_column(cell: int, column: str | None) -> None:
    assert column_at({"a": 3, "b": 3}, cell) == column


def test_a_grid_is_laid_out_for_each_width() -> None:
    grid = Grid(
        2,
        lambda width: {"a": width},
        lambda index, columns: cells_line(columns, {"a": f"row {index} of the grid"}),
        lambda index: f"row {index}\nof the grid",
    )
    assert list(grid.starts(8)) == [0, 1, 2]
    assert grid[1].text.rstrip() == "row 1 o…"
    grid.starts(30)
    assert grid[1].text.rstrip() == "row 1 of the grid"
    assert grid.text(0) == "row 0⏎of the grid"
