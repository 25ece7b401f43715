"""Answers tried with the later ones kept: as amending would, and each kept as a whole branch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.errors import CancelledError, LimitError, QuizlogError
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.session.session import Session
from quizlog_tui.session.trials import attempt_row, differs_at
from tests.support.build import Build

SHOP = """
total = 0
for item in ("tea", "milk", "bread"):
    count = int(input(f"How much {item}? "))
    total += count
    if count > 9:
        input("So much? Why? ")
if input("Card? ") == "loop":
    while True: pass
if total > 8:
    raise Exception("too much to carry")  #score = 0.5
print("bye")
"""
ANSWERS = ["1", "4", "10", "x", ""]


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(SHOP, "1", "2", "3", "yes")


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_deep_sweep_comes_to_what_amending_each_answer_comes_to(at: int, record: Path) -> None:
    text = record.read_bytes()
    with Session(record) as session:
        tried = session.fan_out(at, ANSWERS, deep=True)
    assert record.read_bytes() == text
    for answer, found in zip(ANSWERS, tried, strict=True):
        record.write_bytes(text)
        with Session(record) as session:
            session.amend(at, answer)
            assert found == session.transcript


def test_the_first_step_that_differs_is_told(record: Path) -> None:
    with Session(record) as session:
        whole = session.transcript_of()
        found = session.fan_out(0, ["1", "2", "4", "10", "x"], deep=True)
        assert [differs_at(run, whole) for run in found] == [None, None, 4, 1, 1]
        [longer] = session.fan_out(4, ["more"], deep=True)
        assert differs_at(longer, whole) is None
        assert attempt_row("4", found[2], whole)["differs"] == 4
        assert "differs" not in attempt_row("4", found[2])


def test_behind_the_last_answer_a_deep_sweep_only_tries(build: Build) -> None:
    with Session(build.record(SHOP, "1", "2", "3")) as session:
        whole = session.transcript_of()
        [plain] = session.fan_out(3, ["no"])
        [deep] = session.fan_out(3, ["no"], deep=True)
        assert plain == deep and differs_at(deep, whole) is None


def test_an_answer_that_never_ends_stops_no_other(record: Path) -> None:
    with Replayer(Limits(seconds=0.5)) as replayer, Session(record, replayer) as session:
        found = session.fan_out(3, ["loop", "no"], deep=True)
    assert isinstance(found[0], LimitError)
    assert not isinstance(found[1], QuizlogError) and found[1].status == "success"


def test_a_deep_sweep_can_be_cancelled(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cancelled(*arguments: object) -> None:
        raise CancelledError("given up")

    with Session(record) as session:
        monkeypatch.setattr("quizlog_tui.session.walks.amend", cancelled)
        with pytest.raises(CancelledError):
            session.fan_out(0, ["1"], deep=True)


def test_a_branch_is_kept_with_its_later_answers(record: Path) -> None:
    with Session(record) as session:
        session.keep(0, "4", "four", later=["2", "3", "yes"])
        [kept] = [branch for branch in session.branches if branch.name == "four"]
        assert (kept.at, kept.length, kept.status, kept.score) == (0, 4, "error", 0.5)
        assert list(session.record.path_of("four")) == ["4", "2", "3", "yes"]
        assert len(session.record.trail_of("four")) == len(session.record.trail_of("main"))
        assert session.record.branch == "main" and session.pointer == 4
    assert main(["verify", str(record)]) == 0


def test_a_deep_sweep_in_a_shell(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(record), "0", "2", "4", "--deep"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2  success  score 1",
        "4  error  score 0.5  differs at step 4  too much to carry",
    ]
    assert main(["sweep", str(record), "0", "4", "--deep", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["results"]
    assert (row["steps"], row["differs"]) == (4, 4)
    assert main(["sweep", str(record), "0", "4", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["results"]
    assert row["steps"] == 1 and "differs" not in row
