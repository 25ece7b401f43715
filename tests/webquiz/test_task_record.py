"""A task's record: what a replay finds, how it grows, and what others did to it meanwhile.

Its script, run as it is, shows and raises what was told.
"""

from __future__ import annotations

import json
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.proof.verify import verify
from quizlog_tui.record import branches as rules
from quizlog_tui.record.lock import locked
from quizlog_tui.record.model import MAIN, Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.session import Session
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.webquiz.task.task import PageResult, TaskResult
from quizlog_tui.webquiz.task.task_record import (
    TaskRecord,
    _describe_task,
    _TaskScript,
    _with_task_answers,
    typed,
)
from tests.support.task_results import RIGHT, SKIPPED, page, sent, task

SECRET = "hush-hush-4711"
REFUSED_FIRST = page("correct", sent(1, "too few"), sent(4, correct=True))
OPEN = page("open")


class Kept:
    """A record that is written, and what is said of it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "record.yaml"
        self.notes: list[str] = []
        self.record = TaskRecord(
            self.path, Redaction([SECRET]), self.notes.append, lambda: "2026-11-21T12:00:00+00:00"
        )

    def write(self, state: str, *pages: PageResult) -> Any:
        self.record.write(task(state, *pages))
        return RecordFile(self.path).read()


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


@pytest.mark.parametrize(
    ("ended", "status", "score"),
    [
        (task("finished", RIGHT, REFUSED_FIRST), "success", 1.0),
        (task("finished", RIGHT, SKIPPED, RIGHT), "error", 0.6667),
        (task("wrong", RIGHT, page("wrong", sent("a\nb", "no\nway"))), "error", 0.5),
        (task("no_answer", RIGHT, page("no_answer")), "error", 0.5),
        (task("unreachable", page("unreachable", question="")), "error", 0.0),
        (task("running", RIGHT, OPEN), "in_progress", None),
    ],
    ids=lambda value: value.state if isinstance(value, TaskResult) else "",
)
def test_a_record_is_what_its_script_does(
    kept: Kept, ended: TaskResult, status: str, score: float | None
) -> None:
    kept.record.write(ended)
    record = RecordFile(kept.path).read()
    assert (record.status, record.score, kept.notes) == (status, score, [])
    verdict = verify(kept.path)
    assert (verdict.verdict, verdict.what) == ("reproducible", None)
    with Session(kept.path) as session:
        assert session.warnings == []
        assert session.reply().to_dict()["print"] == list(_describe_task(ended).print)


def test_a_refused_answer_is_a_branch_that_raises_what_the_server_said(kept: Kept) -> None:
    kept.write("finished", RIGHT, REFUSED_FIRST)
    with Session(kept.path) as session:
        assert [one.name for one in session.branches] == ["main", "page-2-try-1"]
        said = session.switch("page-2-try-1")
        assert said.last_error is not None
        assert (said.last_error.message, said.score) == ("refused: too few", 0.5)


def test_it_grows_with_each_page(kept: Kept) -> None:
    first = kept.write("running", OPEN)
    assert (first.status, list(first.inputs), kept.path.with_name("quiz.py").exists()) == (
        "in_progress", [], True,
    )  # fmt: skip
    with Session(kept.path) as session:
        assert session.reply().next_prompt == "q (a number): "
        kept.write("running", RIGHT, OPEN)
        session.reload()
        assert (session.pointer, session.reply().next_prompt) == (1, "q (a number): ")
        assert session.warnings == []
        kept.write("running", RIGHT, page("open", sent(1, "too few"), sent(4)))
        kept.write("running", RIGHT, page("open", sent(1, "too few"), sent(4)))
        session.reload()
        assert [one.name for one in session.branches] == ["main", "page-2-try-1"]
    done = kept.write("finished", RIGHT, REFUSED_FIRST)
    assert (done.status, list(done.inputs)) == ("success", ["4", "4"])
    assert done.extras["execution_id"] == "cafe0123"
    assert verify(kept.path).verdict == "reproducible"


def test_what_a_person_did_meanwhile_stays(kept: Kept) -> None:
    kept.write("running", RIGHT, OPEN)
    with Session(kept.path) as session:
        session.comment(1, "is that so?")
        session.answer("77")  # at the question that the task is about to answer
        session.fork(0, "5", "mine")
    kept.write("running", RIGHT, RIGHT, OPEN)
    with Session(kept.path) as session:
        assert (session.record.branch, session.pointer, list(session.record.inputs)) == (
            "mine",
            1,
            ["5"],
        )
        assert list(session.record.path_of("main")) == ["4", "4"]
        assert ["4", "77"] in [list(session.record.path_of(name)) for name in session.record.names]
        assert [one.text for one in session.feedback] == ["is that so?"]
        assert session.warnings == []
        session.switch("main")
        session.rewind(1)
    done = kept.write("finished", RIGHT, RIGHT, RIGHT)
    assert (done.pointer, list(done.inputs), done.branch) == (1, ["4", "4", "4"], "main")
    assert verify(kept.path).verdict == "reproducible"


def meddled(record: Record, choice: tuple[int, int]) -> Record:
    """What a person may do to a record: answer, go back, fork, look at another branch."""
    what, where = choice
    parked = rules.BranchEnd()
    at = where % (len(record.inputs) + 1)
    if what == 0:
        return rules.answered(record, record.pointer, f"mine {where}", parked)
    if what == 1:
        return rules.rewound(record, at)
    if what == 2:
        return rules.forked(record, at, f"mine {where}", None, parked)
    return rules.switched(record, record.names[where % len(record.names)], parked)


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=3), max_size=5))
def test_whatever_a_person_does_nothing_is_lost_and_the_task_goes_on(
    moves: list[list[tuple[int, int]]],
) -> None:
    record = Record("quiz.py", 0)
    for number, between in enumerate(moves):
        for choice in between:
            record = meddled(record, choice)
        lines = [tuple(record.path_of(name)) for name in record.names]
        now = _describe_task(task("running", *[REFUSED_FIRST] * number, OPEN))
        record = _with_task_answers(record, now, "sha256:0", "2026-11-21")
        assert tuple(record.path_of(MAIN)) == now.answers
        kept = [tuple(record.path_of(name)) for name in record.names]
        assert all(any(path[: len(line)] == line for path in kept) for line in lines)
        assert 0 <= record.pointer <= len(record.inputs)
        refused = [(*now.answers[: one.at], one.answer) for one in now.tries]
        assert all(any(path[: len(line)] == line for path in kept) for line in refused)
        assert len(record.names) <= 2 + 2 * number + sum(map(len, moves))


def test_a_task_that_broke_off_keeps_the_pages_told_before(kept: Kept) -> None:
    kept.write("running", RIGHT, page("open", sent(1, "too few")))
    ended = kept.write("cancelled")
    assert (list(ended.inputs), ended.status) == (["4", "1"], "error")
    assert ended.last_error.message == "the task was cancelled"
    assert verify(kept.path).verdict == "reproducible"


def test_a_task_taken_up_again_goes_on_with_its_record(kept: Kept) -> None:
    kept.write("running", RIGHT, page("open", sent(1, "too few"), sent(2)))
    again = Kept(kept.path.parent)
    record = again.write("finished", RIGHT, page("correct", sent(1, "too few"), sent(4)))
    assert (again.notes, list(record.names)) == ([], ["main", "page-2-try-1"])


def test_a_task_that_was_cancelled_may_go_on_after_all(kept: Kept) -> None:
    kept.write("running", RIGHT, page("open", sent(1, "too few")))
    kept.write("cancelled")
    going = kept.write("running", RIGHT, page("open", sent(1, "too few"), sent(2)))
    assert (going.status, "end_time" in going.extras) == ("in_progress", False)
    done = kept.write("finished", RIGHT, page("correct", sent(1, "too few"), sent(4, correct=True)))
    assert [list(done.path_of(name)) for name in done.names] == [["4", "4"], ["4", "1"]]
    assert (done.status, "end_time" in done.extras, kept.notes) == ("success", True, [])
    assert verify(kept.path).verdict == "reproducible"


def test_the_secret_is_in_none_of_it(kept: Kept) -> None:
    leaky = page("wrong", sent({"a": [SECRET]}, f"not {SECRET}"), question=f"say {SECRET}")
    kept.write("running", page("open", sent(SECRET), sent(2), question=f"say {SECRET}"))
    kept.write("wrong", leaky)
    files = [path.read_text() for path in kept.path.parent.iterdir()]
    assert not [text for text in files if SECRET in text]
    assert verify(kept.path).verdict == "reproducible"


def test_a_record_that_cannot_be_written_ends_no_task(kept: Kept) -> None:
    kept.path.write_text("no record: [")
    kept.record.write(task("finished", RIGHT))
    assert "could not be written" in kept.notes[0]
    assert kept.path.read_text() == "no record: ["


def test_nobody_holds_the_lock_between_two_pages(kept: Kept) -> None:
    kept.write("running", OPEN)
    with locked(kept.path, 0.1):
        pass


def run(script: _TaskScript, *answers: str) -> tuple[list[str], str | None, int | None]:
    """What a plain run prints, and what it raises where; `asks` if it wants one answer more."""
    shown: list[str] = []
    given_answers = iter(answers)
    names = {"print": shown.append, "input": lambda prompt: next(given_answers)}
    try:
        exec(compile(script.text, "quiz.py", "exec"), names)
    except StopIteration:
        return shown, "asks", None
    except Exception as error:
        return shown, str(error), traceback.extract_tb(error.__traceback__)[-1].lineno
    return shown, None, None


def test_a_quiz_that_was_all_right_ends_without_an_exception() -> None:
    script = _describe_task(task("finished", RIGHT, RIGHT))
    assert script.answers == ("4", "4")
    assert (script.ended, script.message) == (True, None)
    assert run(script, "4", "4") == (list(script.print), None, None)
    assert script.print[-1] == "The quiz is over: all 2 pages right."


def test_the_open_page_waits_for_its_answer() -> None:
    script = _describe_task(task("running", RIGHT, page("open", sent(1, "too few"), sent(2))))
    assert (script.answers, script.ended) == (("4",), False)
    assert run(script, "4") == (list(script.print), "asks", None)
    assert [(one.at, one.answer) for one in script.tries] == [(1, "1")]


def test_a_refused_answer_raises_with_what_the_server_said_and_the_share_so_far() -> None:
    script = _describe_task(task("finished", RIGHT, replace(SKIPPED, state="correct")))
    shown, message, line = run(script, "4", "1")
    assert message == "refused: no"
    assert script.text.splitlines()[line - 1].endswith("#score = 0.5")  # type: ignore[operator]
    assert script.tries[0].score == 0.5
    assert shown == list(script.print)[: len(shown)]


def test_an_answer_that_was_never_sent_has_no_reply() -> None:
    script = _describe_task(task("finished", RIGHT))
    assert run(script, "5")[1] == (
        "this answer was never sent: what the server would say is not known"
    )


@pytest.mark.parametrize(
    ("ended", "answers", "message", "score"),
    [
        (task("finished", RIGHT, SKIPPED, RIGHT), ("4", "2", "4"),
         "2 of 3 pages right; not q", 0.6667),
        (task("wrong", RIGHT, page("wrong", sent(1, "no"))), ("4", "1"), "refused: no", 0.5),
        (task("wrong", page("wrong", sent(1))), ("1",), "refused", 0),
        (task("no_answer", RIGHT, page("no_answer")), ("4",),
         "no answer was found that could be sent", 0.5),
        (task("unreachable", page("unreachable", question="", notes=("HTTP 404",))), (),
         "the page could not be had: HTTP 404", 0),
        (task("cancelled", RIGHT, page("open")), ("4",), "the task was cancelled", 0.5),
        (task("cancelled", page("open", sent(1, "no"))), ("1",), "the task was cancelled", 0),
        (task("refused", RIGHT, error="not visited: http://elsewhere"), ("4",),
         "refused: not visited: http://elsewhere", 0.5),
        (task("failed", error="a defect"), (), "failed: a defect", 0),
    ],
)  # fmt: skip
def test_every_other_end_is_told(
    ended: TaskResult, answers: tuple[str, ...], message: str, score: float
) -> None:
    script = _describe_task(ended)
    assert (script.answers, script.message, script.score) == (answers, message, score)
    assert run(script, *answers) == (list(script.print), message, script.line)


def test_the_script_only_grows_while_a_task_runs() -> None:
    asked = _describe_task(task("running", RIGHT, page("open")))
    later = _describe_task(task("running", RIGHT, RIGHT, page("open")))
    assert later.print[: len(asked.print)] == asked.print
    assert later.answers[: len(asked.answers)] == asked.answers


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(values, values)
def test_no_two_answers_are_typed_alike(one: Any, other: Any) -> None:
    if json.dumps(one) != json.dumps(other):
        assert typed(one) != typed(other)


def test_plain_texts_are_typed_as_they_are() -> None:
    assert [typed("Brown"), typed("007"), typed("4"), typed(4)] == ["Brown", "007", '"4"', "4"]


@given(st.text(), st.text(), values, st.text(max_size=20))
def test_whatever_pages_and_servers_say_it_stays_data(
    question: str, reason: str, answer: Any, kind: str
) -> None:
    asked = page("skipped", sent(answer, reason), question=question, kind=kind)
    script = _describe_task(task("finished", asked))
    assert run(script, *script.answers) == (list(script.print), script.message, script.line)
