"""Rows of texts and of columns: nothing lost, nothing too wide, and only what changes is painted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip

from quizlog_tui.tui.widgets.columns import GAP, Grid, cells_line, column_at, fitted, layout, widest
from quizlog_tui.tui.widgets.documents import Paragraphs, height, line
from quizlog_tui.tui.widgets.documents import rows as _rows
from quizlog_tui.tui.widgets.line_view import LineView
from quizlog_tui.tui.widgets.row_list import RowList
from quizlog_tui.tui.widgets.row_painter import cut_to


def rows(text: str, width: int) -> list[str]:
    return ["".join(part for part, _ in row) for row in _rows(line(text), width)]


def test_lines_break_at_spaces() -> None:
    assert rows("one two three", 8) == ["one two ", "three"]
    assert rows("one two three", 7) == ["one two ", "three"]
    assert rows("unbreakable", 4) == ["unbr", "eaka", "ble"]
    assert rows("", 4) == [""]


@given(st.lists(st.text("ab 日本é-", max_size=30), max_size=4), st.integers(2, 20))
def test_rows_hold_every_character_once_and_fit(texts: list[str], width: int) -> None:
    found = _rows(line(*texts), width)
    assert "".join(part for row in found for part, _ in row) == "".join(texts)
    for row in found:
        text = "".join(part for part, _ in row)
        assert cell_len(text.removesuffix(" ")) <= width


@given(st.lists(st.sampled_from(["a", " ", "日", "\n", "é", "word", "      "])), st.integers(2, 9))
def test_the_height_of_a_text_is_the_number_of_its_rows(parts: list[str], width: int) -> None:
    text = "".join(parts)
    assert height(text, width) == len(_rows(line(text), width))


def test_a_space_over_the_edge_begins_no_row() -> None:
    assert rows("a" * 8 + " ", 8) == ["a" * 8 + " "]
    assert height("a" * 8 + " \nb", 8) == 2


@given(st.text("ab 日é…", max_size=30), st.integers(1, 20))
def test_a_row_that_is_cut_says_so(text: str, width: int) -> None:
    shown = cut_to(Strip([Segment(text)]), width).text
    if cell_len(text.rstrip()) <= width:
        assert shown == text
    else:
        assert cell_len(shown) == width and shown.endswith("…")
        assert text.startswith(shown[:-1].rstrip())


class Panes(App[None]):
    """Two panes: one is shown a document after the other, one only the last."""

    CSS = "LineView { height: 6; width: 20; }"

    def __init__(self, kind: type[LineView]) -> None:
        super().__init__()
        self.grown, self.fresh = kind(id="grown"), kind(id="fresh")

    def compose(self) -> ComposeResult:
        yield self.grown
        yield self.fresh

    def painted(self, pane: LineView) -> list[str]:
        """The pane's rows as they stand on the screen."""
        rows = self.screen._compositor.render_strips()
        return [row.crop(0, 20).text for row in rows[pane.region.y : pane.region.bottom]]


SHOWN = [
    ["one", "two"],
    ["one", "two", "three"],
    ["one", "2", "three"],
    ["one"],
    [],
    [str(n) for n in range(9)],
    [str(n) for n in range(10)],
    ["a long line that is broken", "b"],
    ["a long line that is broken", "c", "d"],
]


@pytest.mark.parametrize("kind", [LineView, RowList])
async def test_only_rows_that_change_are_painted_and_none_is_forgotten(
    kind: type[LineView], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, asked = Panes(kind), list[tuple[Region, ...]]()
    async with app.run_test() as pilot:
        for number, texts in enumerate(SHOWN):
            document = Paragraphs([line(text) for text in texts])
            app.grown.show(document, cursor=number % 2, end=True)
            await pilot.pause()
            app.fresh.show(Paragraphs())
            app.fresh.show(document, cursor=number % 2, end=True)
            app.fresh.refresh()
            await pilot.pause()
            assert app.painted(app.grown) == app.painted(app.fresh)
        monkeypatch.setattr(app.grown, "refresh", lambda *regions: asked.append(regions))
        app.grown.show(document, cursor=number % 2, end=True)
        assert asked == []
        app.grown.show(Paragraphs([*document._lines[:2], line("e")]), cursor=number % 2, end=True)
        assert [[region.y for region in regions] for regions in asked] == [[3]]


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
