"""The end of what was printed, read without the rest: what it finds is what the record holds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Branch, LastError, Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.text.printed import printed_tail

TEXTS = st.lists(st.text(max_size=40), max_size=30)


@given(TEXTS, TEXTS, TEXTS, st.integers(1, 40), st.booleans())
def test_the_tail_is_the_end_of_the_records_list(
    printed: list[str], inputs: list[str], trail: list[str], count: int, ended: bool
) -> None:

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "record.yaml"
        record = Record(
            "q.py", 1, AppendOnlyList(inputs), 0, print=AppendOnlyList(printed), trail=AppendOnlyList(trail),
            last_error=LastError("- no", 3) if ended else None,
            branches={"main": Branch(None, 0, AppendOnlyList(inputs))} if ended else {},
        )  # fmt: skip
        RecordFile(path).create(record)
        assert printed_tail(path, count) == printed[-count:]


def test_of_a_long_record_only_the_end_is_found(tmp_path: Path) -> None:
    path = tmp_path / "record.yaml"
    printed = [f"{number} " + "x" * 2000 for number in range(2000)]
    trail = AppendOnlyList(f"{number:012x} a long question {number}? " for number in range(10_000))
    RecordFile(path).create(
        Record("q.py", 1, AppendOnlyList(["a"]), 1, print=AppendOnlyList(printed), trail=trail)
    )
    found = printed_tail(path, 50)
    assert found == printed[-50:]
    assert 50 < len(printed_tail(path, 10_000)) < 200


def test_what_is_not_ours_has_no_tail(tmp_path: Path) -> None:
    path = tmp_path / "record.yaml"
    path.write_text("print: ['a', 'b']\nseed: 1\n")
    assert printed_tail(path, 5) == [] and printed_tail(tmp_path / "none", 5) == []
