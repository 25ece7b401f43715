"""What a verdict is about: it holds until something changes that a replay could contradict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from quizlog_tui.proof.proven import Evidence, ProvenRecord
from quizlog_tui.proof.verdict import Verdict
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.session import Session
from tests.support.build import Build

QUIZ = """
    import random
    import sums
    print("number", random.randint(1, 9))
    for name in "abc":
        print("got", input(name + "? "))
"""
REPRODUCIBLE = Verdict("reproducible")


@pytest.fixture
def session(build: Build) -> Session:
    """Two branches; the pointer is at the end of main."""
    build.script("one = 1\n", "sums.py")
    session = Session(build.record(QUIZ))
    for answer in ("1", "2"):
        session.answer(answer)
    session.fork(1, "two", "other")
    session.switch("main")
    return session


def evidence(session: Session) -> Evidence:
    return Evidence.of(*session.on_disk())


def change(
    session: Session, move: Callable[[Session], object], verdict: Verdict = REPRODUCIBLE
) -> str:
    """What a verdict no longer holds for after a move."""
    with session:
        proven = ProvenRecord(verdict, evidence(session))
        move(session)
        return proven.change(evidence(session), session.record)


@pytest.mark.parametrize(
    "move",
    [
        lambda session: session.rewind(1),
        lambda session: session.rewind(0),
        lambda session: session.switch("other"),
        lambda session: session.delete("other"),
        lambda session: session.note("other", "better"),
        lambda session: session.comment(1, "why?", "wrong", "Ada"),
        lambda session: session.save(),
    ],
    ids=["rewind", "start", "switch", "delete", "branch note", "note", "save"],
)
def test_it_holds_after_a_move_that_leaves_the_answers(
    move: Callable[[Session], object], session: Session
) -> None:
    assert change(session, move) == ""


@pytest.mark.parametrize(
    "move",
    [
        lambda session: session.answer("3"),
        lambda session: session.fork(0, "x"),
        lambda session: session.keep(0, "y"),
        lambda session: session.rename("other", "another"),
    ],
    ids=["answer", "fork", "keep", "rename"],
)
def test_it_ends_with_another_answer_or_branch(
    move: Callable[[Session], object], session: Session
) -> None:
    assert change(session, move) == "the record"


def test_it_ends_with_the_script_or_a_file_of_it(session: Session) -> None:
    script, other = session.source.path, session.source.path.parent / "sums.py"
    text = script.read_text()
    with session:
        proven = ProvenRecord(REPRODUCIBLE, evidence(session))
        assert {script, other, session.path} <= {*proven.about.paths(session.path)}
        script.write_text(f"{text}# the same\n")
        assert proven.change(evidence(session), session.record) == "the script"
        script.write_text(text)
        assert proven.change(evidence(session), session.record) == ""
        other.write_text("one = 2\n")
        assert proven.change(evidence(session), session.record) == "a file of the script"


def edited(path: Path, **fields: object) -> None:
    """Write other fields into the record, as only a forger does."""
    record: Record = replace(RecordFile(path).read(), **fields)  # type: ignore[arg-type]
    path.unlink()
    RecordFile(path).create(record)


@pytest.mark.parametrize(
    "fields",
    [
        {"print": AppendOnlyList(["number 0", "got 1", "got 2"])},
        {"print": AppendOnlyList(["number 0"]), "pointer": 0},
        {"status": "success"},
        {"trail": AppendOnlyList(["0" * 64])},
        {"seed": 8},
        {"args": ("--hard",)},
    ],
    ids=["text", "text and pointer", "status", "marks", "seed", "arguments"],
)
def test_it_ends_with_what_a_forger_writes(fields: dict[str, object], session: Session) -> None:
    assert change(session, lambda session: edited(session.path, **fields)) == "the record"


def test_the_end_of_another_branch_may_be_forged_too(session: Session) -> None:
    branches = session.record.branches
    fields = {"branches": branches | {"other": replace(branches["other"], status="error")}}
    assert change(session, lambda session: edited(session.path, **fields)) == "the record"


def test_a_rewind_by_another_program_waits_until_the_session_has_read_it(session: Session) -> None:
    with session, Session(session.path) as other:
        proven = ProvenRecord(REPRODUCIBLE, evidence(session))
        other.rewind(1)
        assert proven.change(evidence(session), None) == ""
        assert proven.change(evidence(session), session.record) == "the record"
        session.reload()
        assert proven.change(evidence(session), session.record) == ""


def test_what_a_move_of_ours_mends_no_longer_diverges(session: Session) -> None:
    edited(session.path, print=AppendOnlyList(["number 0", "got 1", "got 2"]))
    session.reload()
    diverges = Verdict("diverges", 0, "print")
    assert change(session, lambda session: session.save(), diverges) == "the record"


def test_branches_are_judged_but_for_those_of_another_text(session: Session) -> None:
    with session:
        about = evidence(session)
    assert ProvenRecord(REPRODUCIBLE, about).judged == {"main": 2, "other": 2}
    older = replace(about.record.branches["other"], code_hash="sha256:0")
    record = replace(about.record, branches=about.record.branches | {"other": older})
    assert ProvenRecord(REPRODUCIBLE, replace(about, record=record)).judged == {"main": 2}
