"""Other answers tried: lists of them, each alone and with later ones kept, and the one that fails."""

from __future__ import annotations

import io
import json
import math
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.cli import main
from quizlog_tui.errors import CancelledError, LimitError, QuizlogError, UsageError
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.session.session import Session
from quizlog_tui.session.trials import (
    attempt_row,
    differs_at,
    find_culprit,
    lines_of,
    portions,
    read_answers,
    typed_answers,
)
from tests.support.build import Build
from tests.support.long_runs import few

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


@pytest.mark.parametrize("at", few([0, 1, 2], 1))
def test_a_deep_sweep_comes_to_what_amending_each_answer_comes_to(
    at: int, record: Path, replayer: Replayer
) -> None:
    text = record.read_bytes()
    with Session(record) as session:
        tried = session.fan_out(at, ANSWERS, deep=True)
    assert record.read_bytes() == text
    for answer, found in zip(ANSWERS, tried, strict=True):
        record.write_bytes(text)
        with Session(record, replayer) as session:
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
        monkeypatch.setattr("quizlog_tui.session.trials.amended_run", cancelled)
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


SOME_ANSWERS = st.lists(st.text(st.characters(exclude_characters="\r\n")), min_size=1)


@given(SOME_ANSWERS)
def test_each_line_is_an_answer(answers: list[str]) -> None:
    assert lines_of("\n".join(answers) + "\n") == answers
    assert lines_of("\r\n".join(answers) + "\r\n") == answers


def test_only_newlines_end_a_line() -> None:
    assert lines_of("a\u2028b\x0cc\nd") == ["a\u2028b\x0cc", "d"]
    assert lines_of("") == []
    assert lines_of("\n") == [""]
    assert lines_of("a\n\nb") == ["a", "", "b"]


@given(st.lists(st.text(), max_size=50))
def test_portions_are_all_in_order(answers: list[str]) -> None:
    assert [one for portion in portions(answers) for one in portion] == answers


def test_a_typed_line_may_name_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.txt").write_bytes("\ufeffx\r\ny\n".encode())
    assert typed_answers("a\n@more.txt\n@@b\n-5") == ["a", "x", "y", "@b", "-5"]
    assert typed_answers(f"@{tmp_path / 'more.txt'}") == ["x", "y"]


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot read"), (b"", "holds no answers"), (b"ok\n\xff", "is not text: byte 3")],
)
def test_a_wrong_file_is_named(content: bytes | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=said) as caught:
        read_answers(path)
    assert str(path) in str(caught.value)
    with pytest.raises(UsageError, match="cannot read"):
        typed_answers("@")


def test_a_dash_is_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n2\n")))
    assert read_answers(Path("-")) == ["1", "2"]


TEA_SHOP = """
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
    with Session(build.record(TEA_SHOP, "1", "2", "3", "yes")) as session:
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
    with Session(build.record(TEA_SHOP, "1", "2", "3", "yes")) as session:
        reply = session.amend(1, "10")
        assert reply.next_prompt == "So much? Why? "
        assert list(session.record.inputs) == ["1", "10"]


def test_amend_with_the_same_answer_changes_nothing(build: Build) -> None:
    with Session(build.record(TEA_SHOP, "1", "2", "3", "yes")) as session:
        assert session.amend(1, "2").status == "success"
        assert len(session.branches) == 1
        assert list(session.record.inputs) == ["1", "2", "3", "yes"]


@pytest.mark.parametrize("at", [-1, 4])
def test_amend_needs_an_answer_to_change(at: int, build: Build) -> None:
    with (
        Session(build.record(TEA_SHOP, "1", "2", "3", "yes")) as session,
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
    build.record(TEA_SHOP, "20", "2", "30", "yes")
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
    found = find_culprit(replay, bad, ["good"] * size)
    assert found is not None and found.step == culprit
    assert found.replays <= 2 + math.ceil(math.log2(size))
