"""A run as the record tells it is the run, as far as the record holds it."""

from __future__ import annotations

import pytest

import quizlog_tui as quizlog
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError, Record
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.session.recorded_run import recorded_run, recorded_up_to
from quizlog_tui.terminal_text import plain
from tests.support.build import Build

QUIZ = """
print("one")
print("two\\nlines")
a = input("first? ")
print("you said", a)
b = input("second? ")
if b == "bad":
    print("oh")
    raise ValueError("no good")  #score = 0.4
print("fine")
"""


def shown(run: Transcript) -> list[tuple[tuple[str, ...], str | None, str | None]]:
    """What is printed and asked at each stop, and what was answered."""
    return [(stop.print, stop.prompt, stop.input) for stop in (*run.steps, run.last)]


@pytest.mark.parametrize("answers", [(), ("1",), ("1", "2"), ("1", "bad")], ids=len)
def test_it_is_the_run_the_record_was_written_by(build: Build, answers: tuple[str, ...]) -> None:
    with quizlog.open(build.record(QUIZ)) as session:
        for answer in answers:
            session.answer(answer)
        run, record = session.transcript, session.record
    found = recorded_run(record, "main")
    assert shown(found) == shown(run)
    assert (found.status, found.score, found.print) == (run.status, run.score, run.print)
    assert found.last_error == run.last_error


def test_answers_behind_the_pointer_and_other_branches_have_their_questions(build: Build) -> None:
    with quizlog.open(build.record(QUIZ)) as session:
        for answer in ("1", "bad"):
            session.answer(answer)
        session.fork(0, "7", "other")
        session.switch("main")
        session.rewind(1)
        record = session.record
    main, other = recorded_run(record, "main"), recorded_run(record, "other")
    assert [step.prompt for step in main.steps] == ["first? ", "second? "]
    assert list(main.print) == ["one", "two\nlines", "you said 1"]
    assert (other.inputs, other.next_prompt, len(other.print)) == (("7",), "second? ", 0)
    known = recorded_up_to(record, ["7"])
    assert known is not None and shown(known) == shown(other)
    assert recorded_up_to(record, ["8"]) is None


def test_a_branch_that_ended_has_its_score_and_no_invented_text(build: Build) -> None:
    with quizlog.open(build.record(QUIZ)) as session:
        for answer in ("1", "bad"):
            session.answer(answer)
        session.fork(1, "2", "better")
        record = session.record
    found = recorded_run(record, "main")
    assert (found.status, found.score) == ("error", 0.4)
    assert found.last_error and found.last_error.message == "the error's text is not recorded"
    assert recorded_run(record, "better").status == "success"


def test_a_record_of_another_tool_shows_its_texts_at_the_pointer() -> None:
    error = LastError("bad", 3, 0.2)
    record = Record(
        "gone.py",
        1,
        AppendOnlyList(["a", "b"]),
        2,
        "error",
        AppendOnlyList(["x", "y"]),
        last_error=error,
    )
    found = recorded_run(record, "main")
    assert [step.prompt for step in found.steps] == [None, None]
    assert (found.last.print, found.last_error, found.status) == (("x", "y"), error, "error")


def test_a_recorded_progress_bar_is_one_line(build: Build) -> None:
    path = build.record(
        "for n in range(3):\n    print(f'{n} %', end='\\r')\nprint('done')\ninput('? ')\n"
    )
    with quizlog.open(path) as session:
        session.reply()
        run = recorded_run(session.record, "main")
    assert plain("".join(run.last.written)) == "done\n"
