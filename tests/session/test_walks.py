"""Amend keeps what still fits; bisect finds the first answer that makes the outcome fail."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import UsageError
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.session.session import Session
from quizlog_tui.session.trials import find_culprit as bisect
from tests.support.build import Build

SHOP = """
total = 0
for item in ("tea", "milk", "bread"):
    count = int(input(f"How much {item}? "))
    total += count
    if count > 9:
        input("So much? Why? ")
card = input(f"That is {total}. Card? ")
if total > 50:
    raise Exception("too much to carry")  #score = 0.5
"""


def test_amend_keeps_later_answers_while_their_questions_stay(build: Build) -> None:
    with Session(build.record(SHOP, "1", "2", "3", "yes")) as session:
        reply = session.amend(0, "5")
        assert reply.next_prompt == "That is 10. Card? "
        assert list(session.record.inputs) == ["5", "2", "3"]
        [old] = [branch for branch in session.branches if not branch.active]
        assert (old.length, old.status) == (4, "success")
        assert session.answer("yes").status == "success"


def test_amend_looks_at_no_answer_twice(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each later answer is given to the live run; the whole line is looked up but once."""
    path = build.record("for i in range(300): input(f'{i}? ')\n", *map(str, range(250)))
    with Session(path) as session:
        lengths: list[int] = []
        agrees = AppendOnlyList.agrees
        monkeypatch.setattr(
            AppendOnlyList,
            "agrees",
            lambda self, other: lengths.append(len(other)) or agrees(self, other),
        )
        assert session.amend(2, "new").pointer == 250
        assert sum(lengths) < 250 * 20


def test_amend_stops_where_another_question_comes(build: Build) -> None:
    with Session(build.record(SHOP, "1", "2", "3", "yes")) as session:
        reply = session.amend(1, "10")
        assert reply.next_prompt == "So much? Why? "
        assert list(session.record.inputs) == ["1", "10"]


def test_amend_with_the_same_answer_changes_nothing(build: Build) -> None:
    with Session(build.record(SHOP, "1", "2", "3", "yes")) as session:
        assert session.amend(1, "2").status == "success"
        assert len(session.branches) == 1
        assert list(session.record.inputs) == ["1", "2", "3", "yes"]


@pytest.mark.parametrize("at", [-1, 4])
def test_amend_needs_an_answer_to_change(at: int, build: Build) -> None:
    with (
        Session(build.record(SHOP, "1", "2", "3", "yes")) as session,
        pytest.raises(UsageError, match=f"no answer {at}"),
    ):
        session.amend(at, "x")


def test_bisect_finds_the_answer_that_raised(build: Build) -> None:
    script = "for i in range(40):\n    if input(f'{i}? ') == 'bad': raise Exception('no')\n"
    answers = ["ok"] * 29 + ["bad"]
    with Session(build.record(script, *answers)) as session:
        culprit = session.bisect()
        assert culprit is not None
        assert culprit.step == 29
        assert culprit.replays <= 2 + math.ceil(math.log2(30))


LATE = """
marks = [input(f"{i}? ") for i in range(12)]
wrong = [mark for mark in marks if mark != "good"]
if wrong:
    raise Exception(f"{len(wrong)} wrong")  #score = 0.5
"""


def test_bisect_against_a_good_branch_finds_the_first_wrong_answer(build: Build) -> None:
    bad = ["good"] * 5 + ["slip"] + ["good"] * 3 + ["slip"] + ["good"] * 2
    with Session(build.record(LATE, *["good"] * 12)) as session:
        session.rewind(5)
        for answer in bad[5:]:
            session.answer(answer)
        assert session.reply().score == 0.5
        culprit = session.bisect()
        assert culprit is not None and culprit.step == 5
        assert session.switch("main-1").status == "success"
        assert session.bisect() is None


def test_bisect_blames_no_answer_alone_if_another_fails_there_too(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    from quizlog_tui.cli import main

    path = build.record(LATE.replace("12", "4"), "good", "slip", "good", "5")
    with Session(path) as session:
        for at, answer in ((3, "7"), (3, "9"), (2, "other")):
            session.fork(at, answer, f"with-{answer}")
            session.switch("main")
        found = session.bisect()
        assert found is not None
        assert (found.step, found.failing_too) == (3, ("7", "9"))
    assert main(["bisect", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "step 3: 3? 5",
        "it fails there with 7, 9 too: it does not depend on this answer alone",
    ]
    assert main(["bisect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["failing_too"] == ["7", "9"]


def test_bisect_names_no_other_answer_that_does_better(build: Build) -> None:
    script = "a = input('a? ')\nif a != 'good': raise Exception('no')  #score = 0.5\n"
    with Session(build.record(script, "bad")) as session:
        session.fork(0, "good", "better")
        session.fork(0, "worse", "worse")
        session.switch("main")
        found = session.bisect()
        assert found is not None
        assert (found.step, found.failing_too) == (0, ("worse",))


def test_amend_bisect_and_sweep_from_the_shell(
    build: Build, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from quizlog_tui.cli import main

    monkeypatch.chdir(build.folder)
    build.record(SHOP, "20", "2", "30", "yes")
    assert main(["sweep", "record.yaml", "0", "1", "20", "many"]) == 0
    out = capsys.readouterr().out
    assert "1     in_progress  How much milk?" in out
    assert "20    in_progress  So much? Why?" in out
    assert "many  error  score 0  invalid literal" in out
    assert main(["amend", "record.yaml", "0", "3", "--json"]) == 0
    assert '"next_prompt": "How much milk? "' in capsys.readouterr().out
    assert main(["bisect", "record.yaml"]) == 0
    assert "no answer makes the outcome fail" in capsys.readouterr().out
    assert main(["record.yaml", "--explain"]) == 0
    assert "returning to this step is instant" in capsys.readouterr().err


@given(st.integers(1, 200), st.data())
def test_bisect_is_right_and_logarithmic(size: int, data: st.DataObject) -> None:
    culprit = data.draw(st.integers(0, size - 1))

    def replay(inputs: object) -> Transcript:
        answers = list(inputs)  # type: ignore[call-overload]
        spoiled = "slip" in answers
        error = LastError("no") if spoiled else None
        last = Step(None, (), "", None)
        return Transcript(AppendOnlyList(), last, "error" if spoiled else "success", error)

    bad = ["good"] * culprit + ["slip"] * (size - culprit)
    found = bisect(replay, bad, ["good"] * size)
    assert found is not None and found.step == culprit
    assert found.replays <= 2 + math.ceil(math.log2(size))
