"""Audit mode: every move that would write is refused in one place, and notes can be allowed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from quizlog_tui.errors import ConflictError, ReadOnlyError
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.session.audit import Audit, audit_mode, audit_of
from quizlog_tui.session.session import Session
from tests.support.build import Build

QUIZ = """
for i in range(4):
    print("got", input(f"question {i}? "))
"""
AUDIT = Audit("--read-only")
MOVES: dict[str, Callable[[Session], object]] = {
    "answer": lambda s: s.answer("x"),
    "rewind": lambda s: s.rewind(1),
    "fork": lambda s: s.fork(0, "x"),
    "branch kept": lambda s: s.keep(0, "x"),
    "change of answer": lambda s: s.amend(0, "x"),
    "renaming": lambda s: s.rename("main", "first"),
    "note on": lambda s: s.note("other", "a note"),
    "deletion": lambda s: s.delete("other"),
    "restoring": lambda s: (s.switch("main"), s.restore("gone")),
    "comment": lambda s: s.comment(0, "wrong", "wrong"),
    "watch": lambda s: s.keep_watch("len(x)"),
    "end of watching": lambda s: s.forget_watch("len(x)"),
    "the record": lambda s: s.save(),
}


@pytest.fixture
def record(build: Build) -> Path:
    path = build.record(QUIZ, "a", "b")
    with Session(path) as session:
        session.answer("c")
        session.fork(1, "x", "other")
        session.fork(1, "y", "gone")
        session.switch("main")
        session.delete("gone")
    return path


def test_a_locked_session_names_the_move_and_writes_nothing(
    record: Path, replayer: Replayer
) -> None:
    before = record.read_bytes()
    for name, move in MOVES.items():
        with Session(record, replayer, audit=AUDIT) as session:
            reply = session.reply()
            said = rf"locked; this would write: {name}.*--read-only"
            with pytest.raises(ReadOnlyError, match=said):
                move(session)
            assert session.reply() == reply, name
            assert not session.can_undo and not session.written
        assert record.read_bytes() == before, name


def test_every_move_of_a_session_is_among_those_tried() -> None:
    """A method that is new is either tried above or known to write nothing."""
    writes_nothing = {
        *("reply", "transcript_of", "transcripts_of", "switch", "fan_out", "bisect", "diff"),
        *("verify", "explain", "locked", "reload", "close", "undo", "redo"),
        *("inspect", "evaluate", "trace", "branch_with", "on_disk"),
        *("stop_walk", "watch", "steps_of_line"),
    }
    tried = {"answer", "rewind", "fork", "keep", "amend", "rename", "note", "delete", "restore"}
    public = {name for name, each in vars(Session).items() if callable(each) and name[0] != "_"}
    assert public == writes_nothing | tried | {"comment", "keep_watch", "forget_watch", "save"}


def test_looks_at_what_the_script_knows_write_nothing(record: Path) -> None:
    before = record.read_bytes()
    with Session(record, audit=AUDIT) as session:
        assert session.inspect(0).at == "question"
        assert session.evaluate(0, "1 + 1").value is not None
        assert session.trace(0).events
        assert session.watch("1 + 1").steps[0].values[0].number == 2
        assert session.steps_of_line(str(session.source.path), 1)[0] == 0
    assert record.read_bytes() == before


def test_another_branch_can_be_looked_at_in_a_locked_session(record: Path) -> None:
    before = record.read_bytes()
    with Session(record, audit=AUDIT) as session:
        session.switch("other")
        assert session.record.branch == "other"
        assert session.transcript.inputs == ("a", "x")
        assert not session.outdated
        session.reload()
        assert session.record.branch == "main"
    assert record.read_bytes() == before


def test_an_allowed_note_changes_nothing_but_the_notes(record: Path, build: Build) -> None:
    build.script(QUIZ.replace("got", "changed"))  # what a move would write anew
    before = yaml.safe_load(record.read_text())
    with Session(record, audit=Audit("--read-only", frozenset({"notes"}))) as session:
        session.switch("other")
        session.comment(1, "not so", "wrong", "Ada")
        session.note("other", "look here")
        assert [each.text for each in session.feedback] == ["not so"]
        with pytest.raises(ReadOnlyError):
            session.answer("x")
    after = yaml.safe_load(record.read_text())
    assert [each["text"] for each in after.pop("feedback")] == ["not so"]
    assert after["branches"]["other"].pop("note") == "look here"
    assert after == before


def test_an_allowed_note_never_overwrites_what_somebody_else_wrote(record: Path) -> None:
    with Session(record, audit=Audit("--read-only", frozenset({"notes"}))) as session:
        with Session(record) as other:
            other.answer("d")
        theirs = record.read_bytes()
        with pytest.raises(ConflictError):
            session.comment(0, "late")
    assert record.read_bytes() == theirs


def test_a_record_that_may_not_be_written_is_locked(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert audit_of(record, None) is None
    assert audit_of(record, AUDIT) is AUDIT
    for locked in (record, record.parent):  # not by its mode: the superuser may write anything
        monkeypatch.setattr(os, "access", lambda path, mode, locked=locked: path != locked)
        found = audit_of(record, None)
        assert found is not None and "may not write" in found.reason


def test_the_flag_or_the_settings_lock() -> None:
    assert audit_mode(flag=False, setting=False, allow=["notes"]) is None
    by_flag = audit_mode(flag=True, setting=True, allow=["notes"])
    assert by_flag == Audit("--read-only", frozenset({"notes"}))
    by_setting = audit_mode(flag=False, setting=True, allow=[])
    assert by_setting is not None and "audit = true" in by_setting.reason
