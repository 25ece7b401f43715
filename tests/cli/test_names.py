"""Names that differ in nothing that is seen can be told from each other in every list."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quizlog_tui.cli import main
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.session import Session
from tests.support.build import Build

NAMES = ["main", "ma\u200cin", "main\u3164", "main\ufe0f", "main\U000e0100", "می\u200cخ", "میخ"]
SHOWN = [
    "main", r"ma\u200cin", r"main\u3164", r"main\ufe0f", r"main\U000e0100", r"می\u200cخ", "میخ"
]  # fmt: skip


def test_branches(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    path = build.record("input('one? ')\ninput('two? ')\n")
    with Session(path) as session:
        session.answer("1")
        for number, name in enumerate(NAMES[1:]):
            session.fork(0, str(number), name=name)
        session.switch("main")
    assert main(["branches", str(path)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row[2:].split()[0] for row in rows] == SHOWN
    assert len({row.index(" answer,") for row in rows}) == 1


def test_records(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    record = RecordFile(build.record("input('? ')\n")).read()
    for number, name in enumerate(NAMES):
        RecordFile(build.folder / f"{name}.yaml").create(replace(record, seed=number))
    (build.folder / "record.yaml").unlink()
    assert main(["list", str(build.folder)]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert sorted(row.split()[0] for row in rows) == sorted(f"{name}.yaml" for name in SHOWN)
