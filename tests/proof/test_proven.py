"""What a verdict is about: it holds until something changes that a replay could contradict."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from quizlog_tui.proof import beside as rules
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
BESIDE = "a file beside the script"


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
    return Evidence.of(session.path, *session.on_disk())


def change(
    session: Session, move: Callable[[Session], object], verdict: Verdict = REPRODUCIBLE
) -> str:
    """What a verdict no longer holds for after a move."""
    with session:
        found = ProvenRecord(verdict, evidence(session))
        move(session)
        return found.change(evidence(session), session.record)


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
        found = ProvenRecord(REPRODUCIBLE, evidence(session))
        traces = [found.about.traces(session.path)]
        script.write_text(f"{text}# the same\n")
        traces.append(found.about.traces(session.path))
        assert found.change(evidence(session), session.record) == "the script"
        script.write_text(text)
        assert found.change(evidence(session), session.record) == ""
        traces.append(found.about.traces(session.path))
        other.write_text("one = 2\n")
        assert found.change(evidence(session), session.record) == "a file beside the script"
        traces.append(found.about.traces(session.path))
        session.rewind(1)
        traces.append(found.about.traces(session.path))
    assert all(traces.count(each) == 1 for each in traces)


def beside(session: Session, name: str, text: str = "") -> Path:
    """Make or rewrite a file in the script's folder."""
    path = session.source.path.parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data.txt", "2"),
        ("sub/data.txt", "2"),
        ("colorsys.py", ""),
        ("sub/extra.txt", ""),
        (".env", "KEY=other\n"),
        ("sub/.hidden", ""),
        ("named.json", '{"script": "quiz.py", "seed": 2}'),
        ("sub/deep.json", '{"script": "quiz.py", "seed": 2}'),
        ("other.html", "an export"),
    ],
)
def test_it_ends_with_any_file_that_a_run_may_read(
    name: str, text: str, build: Build, session: Session
) -> None:
    build.script(f"{dedent(QUIZ)}    open('named.json')\n")
    for old in ("data.txt", "sub/data.txt", ".env", "named.json", "sub/deep.json"):
        beside(session, old, '{"script": "quiz.py", "seed": 1}')
    session.reload()
    assert change(session, lambda session: beside(session, name, text)) == BESIDE


def test_it_ends_with_a_big_file_of_another_content_or_one_that_goes(session: Session) -> None:
    big = beside(session, "big.bin")
    os.truncate(big, 17 * 2**20)

    def edited_inside(session: Session) -> None:
        with big.open("r+b") as file:
            file.write(b"x")

    assert change(session, edited_inside) == BESIDE
    assert change(session, lambda session: big.unlink()) == BESIDE


def test_it_ends_with_a_link_that_leads_elsewhere(session: Session) -> None:
    link = beside(session, "sub/one.txt").with_name("link")
    link.symlink_to("one.txt")

    def retarget(session: Session) -> None:
        link.unlink()
        link.symlink_to("two.txt")

    assert change(session, retarget) == BESIDE


@pytest.mark.parametrize(
    "name",
    [
        "record.decisions.jsonl",
        "record.decisions.jsonl.lock",
        "other.decisions.jsonl",
        "other.yaml",
    ],
)
def test_it_holds_after_what_quizlog_writes_for_records(name: str, session: Session) -> None:
    text = session.path.read_text()
    assert change(session, lambda session: beside(session, name, text)) == ""
    assert change(session, lambda session: beside(session, f".{name}.tmp", text)) == ""


def test_a_record_in_another_folder_may_be_written(build: Build) -> None:
    beside = build.folder / "records" / "record.yaml"
    beside.parent.mkdir()
    build.record("for name in 'abc':\n    input(name)\n").rename(beside)
    beside.write_text(beside.read_text().replace("quiz.py", "../quiz.py"))
    session = Session(beside)
    session.answer("1")
    assert change(session, lambda session: session.rewind(0)) == ""


def test_it_is_not_kept_if_there_is_too_much_to_watch(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session:
        entries = len([*session.source.path.parent.iterdir()])
        monkeypatch.setattr(rules, "_MOST_ENTRIES", entries)
        assert ProvenRecord(REPRODUCIBLE, evidence(session)).is_kept
        beside(session, "one more")
        found = ProvenRecord(REPRODUCIBLE, evidence(session))
        assert not found.is_kept
        before = found.about.traces(session.path)
        beside(session, "and more")
        assert found.about.traces(session.path) == before


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
        found = ProvenRecord(REPRODUCIBLE, evidence(session))
        other.rewind(1)
        assert found.change(evidence(session), None) == ""
        assert found.change(evidence(session), session.record) == "the record"
        session.reload()
        assert found.change(evidence(session), session.record) == ""


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
