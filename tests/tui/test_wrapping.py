"""Rows of long lines: known without a search, and each character stands in one of them."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quizlog_tui.tui.widgets import documents
from quizlog_tui.tui.widgets.documents import LONG, Rows, height

PARTS = st.lists(st.text("ab 日é\n─", max_size=30), max_size=4)


@given(PARTS, st.integers(2, 20), st.sampled_from([4, LONG]))
def test_rows_hold_each_character_once_and_know_where_it_stands(
    parts: list[str], width: int, long: int
) -> None:
    text = "".join(parts)
    with mock.patch.object(documents, "LONG", long):
        found = Rows([(part, "") for part in parts], width)
        assert len(found) == (height(text, width) if parts else 0)
        at = 0
        for number, row in enumerate(found):
            shown = "".join(part for part, _ in row)
            assert found.begin(number) == at and text.startswith(shown, at)
            assert all(found.row_of(at + inside) == number for inside in range(len(shown)))
            assert cell_len(shown.removesuffix(" ")) <= width
            at += len(shown) + (text[at + len(shown) : at + len(shown) + 1] == "\n")
        assert at == len(text)


@pytest.mark.parametrize(("sign", "rows"), [("x", 100), ("é", 100), ("日", 200)])
def test_the_rows_of_a_long_line_are_not_searched_for(
    sign: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_breaks", None)
    assert len(Rows([(sign * LONG * 2, "")], LONG // 50)) == rows
