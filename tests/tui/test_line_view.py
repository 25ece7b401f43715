"""Breaking lines into rows: nothing lost, nothing too wide, words kept whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quizlog_tui.tui.widgets.documents import height, line
from quizlog_tui.tui.widgets.documents import rows as _rows


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
