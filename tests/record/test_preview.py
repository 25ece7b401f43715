"""Previews: the same of a big record, of which only the ends of lists are parsed, as of a small."""

from __future__ import annotations

from pathlib import Path

from quizlog_tui.record import summary as module
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError, Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.summary import Preview, preview, summary


def big(path: Path, count: int, pointer: int) -> Path:
    numbers = [str(number) for number in range(count)]
    record = Record("quiz.py", 7, AppendOnlyList(numbers), pointer)
    trail = AppendOnlyList([f"0123456789ab Question {n}? " for n in range(count + 1)])
    told = record.but(
        print=AppendOnlyList([f"line {n}" for n in range(count)]),
        trail=trail,
        status="in_progress",
        extras={"feedback": [{"at": 1, "verdict": "wrong", "author": "ann", "text": "odd"}]},
    )
    RecordFile(path).create(told)
    return path


def test_only_the_ends_of_long_lists_are_parsed(tmp_path: Path) -> None:
    path = big(tmp_path / "big.yaml", 9000, 8998)
    short, count = module._shortened(path.read_bytes())
    assert count == 9000
    assert path.stat().st_size > 20 * len(short)
    found = preview(summary(path))
    assert found.question == "Question 8998? "
    assert found.printed[-1] == "line 8999" and len(found.printed) == module._ENDS
    assert [(note.author, note.verdict) for note in found.notes] == [("ann", "wrong")]


def test_an_error_and_the_scores_of_branches_are_previewed(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    error = LastError("no", 3, 0.5)
    RecordFile(path).create(
        Record("quiz.py", 7, AppendOnlyList(["x"]), 1, status="error", last_error=error)
    )
    found = preview(summary(path))
    assert (found.error, found.line, found.scores, found.question) == ("no", 3, (0.5,), None)


def test_what_cannot_be_read_has_an_empty_preview(tmp_path: Path) -> None:
    for name, data in (("a.yaml", b"\xff"), ("b.yaml", b"- 1\n"), ("c.yaml", b"a: [")):
        (tmp_path / name).write_bytes(data)
        assert preview(summary(tmp_path / name)) == Preview()
    assert preview(summary(tmp_path / "gone.yaml")) == Preview()
