"""Opening a record under an edited script: what stays, what is parked, what is said."""

from __future__ import annotations

import json

import pytest

from quizlog_tui.errors import UsageError
from quizlog_tui.proof.drift import drift_report
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.session.session import Session
from tests.proof.drift.quiz import QUIZ, edited, recorded
from tests.support.build import Build

ASK_MORE = edited(("How hot? ", "How warm? "))
"""The first three answers still belong to their questions."""


def test_looking_changes_nothing_and_the_next_move_keeps_everything(
    build: Build, replayer: Replayer
) -> None:
    path = recorded(build)
    before = path.read_bytes()
    build.script(ASK_MORE)
    with Session(path, replayer) as session:
        assert "3 of 5 answers agree, then the question at step 3" in session.warnings[0]
        assert "'How hot? ', is 'How warm? '" in session.warnings[0]
        assert session.warnings[1] == "the answers as they were stay on the branch main-1"
        assert (session.pointer, session.reply().next_prompt) == (3, "How warm? ")
        assert path.read_bytes() == before
        session.answer("cool")
    record = RecordFile(path).read()
    assert list(record.inputs)[2:] == ["red", "cool"]
    assert list(record.path_of("main-1"))[2:] == ["red", "mild", "yes"]
    assert (record.branches["main-1"].status, record.branches["main-1"].score) == ("success", 1.0)
    with Session(path, replayer) as session:
        assert session.warnings == []


def test_the_old_script_takes_the_old_answers_again(build: Build, replayer: Replayer) -> None:
    path = recorded(build)
    build.script(ASK_MORE)
    with Session(path, replayer) as session:
        session.answer("cool")
    build.script(QUIZ)
    with Session(path, replayer) as session:
        assert session.switch("main-1").status == "success"
        assert session.warnings == []


def test_a_branch_of_an_older_script_is_judged_when_it_is_switched_to(
    build: Build, replayer: Replayer
) -> None:
    path = recorded(build)
    build.script(edited(("How deep? ", "How far down? ")))
    with Session(path, replayer) as session:
        assert session.reply().status == "success"
        assert session.switch("blue").next_prompt == "How far down? "
        assert "then the question at step 3" in session.warnings[0]
        assert list(session.record.path_of("blue-1"))[3:] == ["3"]
    with Session(path, replayer) as session:
        assert (session.record.branch, session.pointer, session.warnings) == ("blue", 3, [])


def test_a_branch_none_of_whose_answers_fits_is_not_switched_to(
    build: Build, replayer: Replayer
) -> None:
    path = build.record("input('a? ')\ninput('b? ')\n", "x", "y")
    with Session(path, replayer) as session:
        session.save()
    build.script("input('A? ')\ninput('b? ')\n")
    with Session(path, replayer) as session:
        before = session.record
        with pytest.raises(UsageError, match="main-1, which is of an older script: none of 2"):
            session.switch("main-1")
        assert session.record == before and list(before.path_of("main-1")) == ["x", "y"]


def test_what_a_script_no_longer_shows_is_nothing(build: Build, replayer: Replayer) -> None:
    path = recorded(build)
    build.script(edited(('print("Right.")\n', "")))
    with Session(path, replayer) as session:
        assert session.warnings[0].endswith("the printed text at step 1 was 'Right.', is nothing")


def test_a_record_that_was_rewound_is_judged_beyond_its_pointer(
    build: Build, replayer: Replayer
) -> None:
    path = recorded(build)
    with Session(path, replayer) as session:
        session.rewind(1)
    build.script(ASK_MORE)
    with Session(path, replayer) as session:
        assert (session.pointer, len(session.record.inputs)) == (1, 3)
        session.answer("Ada")
    record = RecordFile(path).read()
    assert list(record.path_of("main-1"))[3:] == ["mild", "yes"]


def test_a_changed_first_question_parks_every_answer(build: Build, replayer: Replayer) -> None:
    path = recorded(build)
    build.script(edited(("} = ", "} is ")))
    with Session(path, replayer) as session:
        assert (session.pointer, list(session.record.inputs)) == (0, [])
        session.answer(str(eval((session.reply().next_prompt or "").removesuffix("is "))))
        assert session.reply().next_prompt == "Your name? "
    with Session(path, replayer) as session:
        assert session.warnings == []
        assert {len(branch.name) and branch.length for branch in session.branches} == {1, 4, 5}


def test_the_pending_question_counts_though_it_has_no_answer(
    build: Build, replayer: Replayer
) -> None:
    path = build.record("input('a? ')\n")
    with Session(path, replayer) as session:
        session.save()
    build.script("input('b? ')\n")
    with Session(path, replayer) as session:
        assert "was 'a? ', is 'b? '" in session.warnings[0]
        assert session.answer("x").status == "success"


def test_a_record_without_marks_is_judged_by_what_it_printed(
    build: Build, replayer: Replayer
) -> None:
    path = recorded(build)
    with Session(path, replayer) as session:
        full = session.record
    data = {
        "script": "quiz.py", "seed": 7, "inputs": list(full.inputs), "pointer": 5,
        "status": "success", "print": list(full.print), "code_hash": full.code_hash,
    }  # fmt: skip
    plain = build.folder / "plain.json"
    for text, step in ((ASK_MORE, None), (edited(('"Warm."', '"Hot."')), 3), (QUIZ, None)):
        plain.write_text(json.dumps(data))
        source = read_source(build.script(text))
        found = drift_report(RecordFile(plain).read(), source, replayer).active.difference
        assert (found and found.step) == step


def test_a_script_of_the_same_text_that_prints_the_time_is_told_and_goes_on(
    build: Build, replayer: Replayer
) -> None:
    path = build.record("import os\nprint(open('now').read())\ninput('a? ')\ninput('b? ')\n")
    (build.folder / "now").write_text("1")
    with Session(path, replayer) as session:
        session.answer("x")
    (build.folder / "now").write_text("2")
    with Replayer() as fresh, Session(path, fresh) as session:
        assert session.pointer == 1
        assert "no longer prints what was recorded" in session.warnings[0]


@pytest.mark.parametrize(
    ("old", "new", "step", "what"),
    [
        ('"Right."', '"TAMPERED"', 1, "print"),
        ('status: "success"', 'status: "error"', 5, "outcome"),
        ("pointer: 5", "pointer: 5\nlast_error: {message: bad, score: 0.5}", 5, "error"),
    ],
)
def test_a_record_edited_with_its_marks_kept_is_seen_and_told(
    old: str, new: str, step: int, what: str, build: Build, replayer: Replayer
) -> None:
    path = recorded(build)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    source = read_source(build.folder / "quiz.py")
    found = drift_report(RecordFile(path).read(), source, replayer).active.difference
    assert found is not None and (found.step, found.what) == (step, what)
    with Session(path, replayer) as session:
        assert len(session.warnings) == 1 and "the script no longer" in session.warnings[0]


def test_a_data_file_that_changes_a_question_is_as_an_edit(
    build: Build, replayer: Replayer
) -> None:
    path = build.record("for line in open('asks'):\n    input(line.strip() + '? ')\n")
    (build.folder / "asks").write_text("a\nb\nc\n")
    with Session(path, replayer) as session:
        session.answer("1")
        session.answer("2")
    (build.folder / "asks").write_text("a\nx\nc\n")
    with Replayer() as fresh, Session(path, fresh) as session:
        assert (session.pointer, session.reply().next_prompt) == (1, "x? ")


@pytest.mark.parametrize("trail", ['["short"]', "[]", '["a", "b", "c", "d", "e", "f", "g", "h"]'])
def test_a_damaged_trail_loses_nothing(trail: str, build: Build, replayer: Replayer) -> None:
    build.script("for i in range(3): input(f'{i}? ')\n")
    path = build.folder / "r.yaml"
    path.write_text(f'script: quiz.py\nseed: 1\ninputs: ["1", "2"]\ntrail: {trail}\n')
    with Session(path, replayer) as session:
        session.answer("3")
    record = RecordFile(path).read()
    assert "2" in {answer for name in record.names for answer in record.path_of(name)}


def test_the_python_api(build: Build, replayer: Replayer) -> None:
    import quizlog_tui as quizlog

    path = recorded(build)
    with Session(path, replayer) as session:
        found = session.diff("blue")
        assert (found.difference and found.difference.step, found.answer) == (3, 2)
        session.rewind(1)
        assert session.diff("blue").to_dict()["step"] == 3
        with pytest.raises(UsageError, match="there is no branch"):
            session.diff("nope")
        report = quizlog.drift_report(session.record, session.source, replayer)
        assert report.agrees and report.active.branch == "main"
        assert quizlog.compare(session.transcript, session.transcript).equal
        assert len(quizlog.align(session.transcript_of(), session.transcript_of())) == 6
    assert len(quizlog.lint(quizlog.read_source(build.folder / "quiz.py")).questions) == 6
