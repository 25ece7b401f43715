"""The table and the JSON of expressions at every step, and what the record keeps of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.session import Session
from tests.support.build import Build

SCRIPT = """\
    items = []
    for number in range(3):
        items.append(input(f"{number}? "))
    total = len(items)
    """


@pytest.fixture
def path(build: Build, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(build.folder / "data"))
    return build.record(SCRIPT, "a", "", "a long answer, longer than what a row of the table has")


def test_a_row_for_each_step(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = path.read_bytes()
    assert main(["watch", str(path), "items[-1:]", "total", "items.clear()"]) == 0
    rows = capsys.readouterr().out.splitlines()
    failed = "! NameError: name 'total' is not defined"
    assert [re.split("  +", row.strip()) for row in rows] == [
        ["answer", "items[-1:]", "total", "items.clear()"],
        ["0", "a", "[]", failed, "None"],
        ["1", "['a']", failed, "None"],
        ["2", "a long answer, longer than what a row o…", "['']", failed, "None"],
        ["3", "['a long answer, longer than what a row…", "3", "None"],
    ]
    assert len({row.rindex("None") for row in rows[1:]} | {rows[0].rindex("items.clear()")}) == 1
    assert path.read_bytes() == before


def test_the_data_of_each_step(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(path), "len(items) / 2", "total", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["expressions"] == ["len(items) / 2", "total"]
    assert [one["step"] for one in found["steps"]] == [0, 1, 2, 3]
    assert found["steps"][1]["values"] == [
        {"text": "0.5", "number": 0.5, "error": None},
        {"text": "", "number": None, "error": "NameError: name 'total' is not defined"},
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["len("], "len(: not an expression: '(' was never closed at character 4"),
        (["total", "x = 1", "--keep"], "x = 1: not an expression: invalid syntax"),
        ([], "no expression is named, and the record keeps none"),
        (["--keep"], "which expression?"),
        (["total", "--forget"], "'total' is not watched"),
        (["total", "--forget", "--keep"], "not allowed with"),
    ],
)
def test_a_wrong_call_is_refused_at_once(
    words: list[str], said: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(path), *words]) == 2
    told = capsys.readouterr()
    assert (told.out, said in told.err, told.err.count("\n")) == ("", True, 1)


def test_kept_expressions_are_shown_without_naming_them(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(path), "len(items)", "number", "--keep"]) == 0
    kept = capsys.readouterr().out
    assert kept.splitlines()[0].split() == ["answer", "len(items)", "number"]
    assert main(["watch", str(path)]) == 0
    assert capsys.readouterr().out == kept
    assert main(["watch", str(path), "number", "--forget", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["expressions"] == ["len(items)"]
    assert main(["watch", str(path), "len(items)", "--forget"]) == 0
    assert capsys.readouterr().out == ""
    assert "feedback" not in path.read_text()


def test_a_kept_expression_is_no_note_anywhere(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for words in (["feedback"], ["feedback", "--json"], ["steps"], ["steps", "--json"]):
        main([words[0], str(path), *words[1:]])
    without = _stable(capsys.readouterr().out)
    assert main(["watch", str(path), "len(items)", "--keep"]) == 0
    capsys.readouterr()
    for words in (["feedback"], ["feedback", "--json"], ["steps"], ["steps", "--json"]):
        main([words[0], str(path), *words[1:]])
    assert _stable(capsys.readouterr().out) == without
    page = tmp_path / "page.md"
    assert main(["export", str(path), "-o", str(page)]) == 0
    assert "## Notes" not in page.read_text() and "len(items)" not in page.read_text()
    assert RecordFile(path).read().extras["feedback"][0]["watch"] == "len(items)"


def _stable(text: str) -> str:
    return re.sub(r' *[\d.]+ m?s|"seconds": [\d.e-]+', "", text)


def test_keeping_can_be_undone(path: Path) -> None:
    with Session(path) as session:
        session.keep_watch("len(items)", "ann")
        assert session.watches == ["len(items)"]
        assert session.can_undo == "watch len(items)"
        session.undo()
        assert session.watches == []
        session.redo()
        session.forget_watch("len(items)")
        session.undo()
        assert session.watches == ["len(items)"]


def test_what_is_kept_and_is_no_expression_is_not_evaluated(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("feedback:\n- watch: 'len('\n- watch: 'number'\n")
    with Session(path) as session:
        assert session.watches == ["number"]
