"""Undo and redo in a session: every change is taken back durably, and no answer is lost by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from quizlog_tui.errors import ConflictError, UsageError
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session import moves
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.sessions import QUIZ, on_disk


def test_an_answer_is_taken_back_and_given_again(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        assert (session.can_undo, session.can_redo) == (None, None)
        session.answer("1")
        assert session.can_undo == "answer at step 0"
        assert session.undo().pointer == 0
        assert (on_disk(path)["pointer"], on_disk(path)["inputs"]) == (0, ["1"])
        assert (session.can_undo, session.can_redo) == (None, "answer at step 0")
        assert session.redo().pointer == 1
        assert on_disk(path)["pointer"] == 1
        assert (session.can_undo, session.can_redo) == ("answer at step 0", None)


def test_a_fork_taken_back_can_be_restored_later(build: Build) -> None:
    path = build.record(QUIZ, "1", "2")
    with Session(path) as session:
        session.fork(1, "bad", "other")
        session.undo()
        assert (session.record.branch, session.pointer) == ("main", 2)
        assert [branch.name for branch in session.branches] == ["main"]
    with Session(path) as session:
        hidden = session.all_branches[1]
        assert (hidden.name, hidden.status, hidden.score) == ("other", "error", 0.3)
        session.restore("other")
        assert session.switch("other").status == "error"


def test_every_kind_of_change_goes_both_ways(build: Build) -> None:
    with Session(build.record(QUIZ, "1", "2", "3"), clock=lambda: "now") as session:
        moves = [
            lambda: session.rewind(1),
            lambda: session.answer("9"),
            lambda: session.fork(0, "bad", "other"),
            lambda: session.note("other", "a try"),
            lambda: session.comment(0, "no", "wrong", "ann"),
            lambda: session.rename("other", "second"),
            lambda: session.switch("main"),
            lambda: session.amend(0, "8"),
            lambda: session.delete("second"),
            lambda: session.restore("second"),
        ]
        states = [session.record]
        for move in moves:
            move()
            states.append(session.record)
        for state in reversed(states[:-1]):
            session.undo()
            assert visible(session) == visible_of(state)
        for state in states[1:]:
            session.redo()
            assert visible(session) == visible_of(state)
        assert session.record == states[-1]


def visible(session: Session) -> object:
    return visible_of(session.record)


def visible_of(record: Record) -> object:
    """What a user sees of a record: all but what is hidden or ahead of the pointer."""
    paths = {name: list(record.path_of(name)) for name in record.names if name != record.branch}
    return record.branch, list(record.used), record.status, paths, record.extras.get("feedback")


def test_a_new_change_ends_what_was_undone(build: Build) -> None:
    with Session(build.record(QUIZ)) as session:
        session.answer("1")
        session.undo()
        session.answer("2")
        assert session.can_redo is None
        with pytest.raises(UsageError, match="nothing to redo"):
            session.redo()


def test_what_changes_nothing_is_not_remembered(build: Build) -> None:
    with Session(build.record(QUIZ)) as session:
        session.rewind(0)
        session.switch("main")
        session.note("main", "")
        session.rename("main", "main")
        with pytest.raises(UsageError, match="nothing to undo"):
            session.undo()


def test_an_outside_change_clears_what_was_done(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        session.answer("1")
        with Session(path) as other:
            other.answer("5")
        before = path.read_bytes()
        with pytest.raises(ConflictError):
            session.undo()
        assert path.read_bytes() == before
        assert session.can_undo is None
        session.reload()
        assert (list(session.record.inputs), session.can_undo, session.can_redo) == (
            ["1", "5"],
            None,
            None,
        )


def test_the_number_of_remembered_changes_is_bounded(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Session(build.record(QUIZ, "1", "2"), save=False) as session:
        for index in range(moves.LIMIT + 10):
            session.rewind(index % 2)
        for _ in range(moves.LIMIT):
            session.undo()
        assert session.can_undo is None


def test_an_undo_that_cannot_be_written_changes_nothing(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        session.answer("1")
        path.unlink()
        path.mkdir()
        with pytest.raises(ConflictError):
            session.undo()
        assert session.pointer == 1


def test_the_time_a_questionnaire_ended_stays(build: Build) -> None:
    path = build.record("input('x? ')\n")
    data = on_disk(path) | {"start_time": "then"}
    path.write_text(json.dumps(data))
    times = iter(f"time {number}" for number in range(100))
    with Session(path, clock=lambda: next(times)) as session:
        session.answer("1")
        ended = on_disk(path)["end_time"]
        session.note("main", "done")
        session.comment(0, "good", "right")
        assert on_disk(path)["end_time"] == ended


def test_a_comment_is_written_with_time_and_author(build: Build) -> None:
    path = build.record(QUIZ, "1")
    with Session(path, clock=lambda: "now") as session:
        session.comment(0, "fine", "right", "ann")
        assert [said.text for said in session.feedback] == ["fine"]
    assert RecordFile(path).read().extras["feedback"] == [
        {
            "at": 0,
            "branch": "main",
            "author": "ann",
            "time": "now",
            "verdict": "right",
            "text": "fine",
        }
    ]


def test_any_branch_can_be_run_to_its_end(build: Build) -> None:
    with Session(build.record(QUIZ, "1", "2", "3")) as session:
        session.fork(1, "bad", "other")
        assert session.transcript_of("main").status == "success"
        assert session.transcript_of("other").score == 0.3
        with pytest.raises(UsageError, match="no branch 'x'"):
            session.transcript_of("x")


def test_deleting_survives_the_disk(build: Build) -> None:
    path: Path = build.record(QUIZ, "1")
    with Session(path, clock=lambda: "now") as session:
        session.fork(0, "2", "other")
        session.switch("main")
        session.delete("other")
    with Session(path) as session:
        assert [branch.name for branch in session.branches] == ["main"]
        assert [branch.deleted for branch in session.all_branches] == [None, "now"]


def test_an_answer_at_an_earlier_step_is_one_move(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build.record(QUIZ, "1", "2", "3")
    written: list[Record] = []
    write = RecordFile.write

    def count(
        self: RecordFile, record: Record, beside: Mapping[Path, bytes] | None = None
    ) -> list[str]:
        written.append(record)
        return write(self, record, beside)

    with Session(path) as session:
        monkeypatch.setattr(RecordFile, "write", count)
        before = visible(session)
        assert session.answer("9", at=1).pointer == 2
        assert (len(written), session.can_undo) == (1, "answer at step 1")
        assert list(session.record.inputs) == ["1", "9"]
        assert list(session.record.branches["main-1"].inputs) == ["2", "3"]
        session.undo()
        assert (visible(session), session.can_undo, len(written)) == (before, None, 2)
        session.redo()
        assert list(session.record.inputs) == ["1", "9"]
    assert on_disk(path)["inputs"] == ["1", "9"]


def test_answering_at_a_step_is_refused_where_nothing_is_asked(build: Build) -> None:
    path = build.record(QUIZ, "1", "bad")
    before = path.read_bytes()
    with Session(path) as session:
        for at in (-1, 2, 3):
            with pytest.raises(UsageError):
                session.answer("2", at=at)
        assert path.read_bytes() == before
        assert session.answer("2", at=1).pointer == 2  # the question that led to the error


def test_the_recorded_answer_at_an_earlier_step_is_a_step_forward(build: Build) -> None:
    with Session(build.record(QUIZ, "1", "2", "3")) as session:
        assert session.answer("1", at=0).pointer == 1
        assert list(session.record.inputs) == ["1", "2", "3"] and not session.record.branches
