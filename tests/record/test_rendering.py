"""A record that grows is written as if it were rendered anew each time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.branches import BranchEnd, answered, forked, rewound
from quizlog_tui.record.document import Rendering, from_text, to_mapping, to_text
from quizlog_tui.record.model import LastError, Record

MOVES = st.lists(
    st.tuples(
        st.sampled_from(["answer", "rewind", "fork", "print"]),
        st.integers(0, 5),
        st.text(max_size=4),
    ),
    max_size=12,
)


@given(MOVES)
def test_growing_text_reads_back_as_the_record(moves: list[tuple[str, int, str]]) -> None:
    rendering, record = Rendering(), Record("q.py", 1, extras={"mine": [1]})
    for move, number, text in moves:
        at = min(number, len(record.inputs))
        match move:
            case "answer":
                record = answered(record, at, text, BranchEnd())
            case "rewind":
                record = rewound(record, at)
            case "fork":
                record = forked(record, at, text, None, BranchEnd())
            case "print":
                record = replace(
                    record, print=record.print.upto(number).then(text), last_error=LastError(text)
                )
        written = rendering.text(record)
        assert from_text(written, "r") == from_text(
            to_text(to_mapping(record), Path("r.yaml")), "r"
        )
        assert from_text(written, "r") == rendered_anew(record)


def rendered_anew(record: Record) -> Record:
    return from_text(Rendering().text(record), "r")


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 9)), max_size=20))
def test_a_series_is_immutable_to_its_holders(moves: list[tuple[int, int]]) -> None:
    held: list[tuple[AppendOnlyList[int], list[int]]] = [(AppendOnlyList(), [])]
    for pick, value in moves:
        series, items = held[pick % len(held)]
        if value < 7:
            held.append((series.then(value), [*items, value]))
        else:
            cut = value % (len(items) + 1)
            held.append((series.upto(cut), items[:cut]))
        for series, items in held:
            assert list(series) == items
            assert series == AppendOnlyList(items)
            assert [series[i] for i in range(len(series))] == items
