"""Sessions: moves replay, change the record by the rules, and reach the disk."""

from __future__ import annotations

import pytest
import yaml

import quizlog_tui as quizlog
from quizlog_tui.errors import (
    CancelledError,
    ConflictError,
    LimitError,
    LockedError,
    RecordError,
    ScriptError,
    UsageError,
)
from quizlog_tui.record import store
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.session import live_record
from quizlog_tui.session.new_record import new_record
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.sessions import QUIZ, on_disk


def test_the_python_api_of_the_design(build: Build) -> None:
    path = build.record(QUIZ)
    with quizlog.open(path) as session:
        assert session.reply().next_prompt == "number 0? "
        session.answer("4")
        reply = session.answer("5")
        assert (reply.pointer, reply.status, reply.input_type) == (2, "in_progress", "number")
        session.rewind(1)
        session.fork(1, "7", name="other")
        assert [b.name for b in session.branches] == ["main", "other"]
        assert session.switch("main").pointer == 2
    assert set(reply.to_dict()) == {
        "status", "pointer", "next_prompt", "input_type", "choices", "print", "last_error", "score",
        "branch", "record",
    }  # fmt: skip


def test_the_whole_run_is_mirrored_in_the_record(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        for answer in ("1", "2", "3"):
            session.answer(answer)
        first = session.transcript.print[0]
    data = on_disk(path)
    assert data["status"] == "success"
    assert (data["inputs"], data["pointer"]) == (["1", "2", "3"], 3)
    assert data["print"] == [first, "total 1", "total 3", "total 6", "done"]
    assert str(data["code_hash"]).startswith("sha256:")
    assert "last_error" not in data


def test_an_error_is_recorded_and_the_retry_keeps_it(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        session.answer("1")
        reply = session.answer("bad")
        assert (reply.status, reply.score, reply.next_prompt) == ("error", 0.3, None)
    assert on_disk(path)["last_error"] == {"message": "bad number", "line": 7, "score": 0.3}
    with Session(path) as session:
        assert session.answer("2").pointer == 2
        assert [(b.name, b.status, b.score) for b in session.branches if not b.active] == [
            ("main-1", "error", 0.3)
        ]
        assert list(session.record.inputs) == ["1", "2"]
        assert session.answer("3").status == "success"
        with pytest.raises(UsageError, match="finished"):
            session.answer("4")


def test_retrying_with_the_same_answer_makes_no_branch(build: Build) -> None:
    with Session(build.record(QUIZ)) as session:
        session.answer("bad")
        assert session.answer("bad").status == "error"
        assert len(session.branches) == 1


def test_a_rewound_tail_is_stepped_through_or_kept(build: Build) -> None:
    with Session(build.record(QUIZ)) as session:
        for answer in ("1", "2", "3"):
            session.answer(answer)
        session.rewind(0)
        assert session.answer("1").pointer == 1
        assert len(session.branches) == 1
        session.answer("9")
        tail = next(b for b in session.branches if not b.active)
        assert (tail.at, tail.length, tail.status, tail.score) == (1, 3, "success", 1.0)


def test_a_script_that_cannot_start_says_so(build: Build) -> None:
    with Session(build.record("raise Exception('no')\n")) as session:
        assert session.reply().status == "error"
        with pytest.raises(UsageError, match="before its first question"):
            session.answer("x")


def test_a_fork_where_nothing_is_asked_is_refused(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        for answer in ("1", "2", "3"):
            session.answer(answer)
        before = path.read_bytes()
        with pytest.raises(UsageError, match="asks nothing at step 3"):
            session.fork(3, "x")
        with pytest.raises(UsageError, match="there is no step 9"):
            session.fork(9, "x")
        assert path.read_bytes() == before


def test_an_outside_change_stops_the_move_and_reload_goes_on(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as one, Session(path) as two:
        one.answer("1")
        with pytest.raises(ConflictError):
            two.answer("2")
        assert list(two.record.inputs) == [] and two.pointer == 0
        assert two.reload().pointer == 1
        assert two.answer("2").pointer == 2


def test_a_session_that_holds_its_record_goes_on_from_what_others_wrote(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as one, Session(path, wait=0) as two:
        one.answer("1")
        with two.locked():
            assert two.pointer == 1
            with pytest.raises(LockedError), Session(path, wait=0) as three:
                three.answer("9")
            assert two.answer("2").pointer == 2
        with one.locked():
            assert one.pointer == 2


def test_a_record_that_names_another_script_now_has_to_be_opened_again(build: Build) -> None:
    path = build.record(QUIZ)
    build.script("input('other? ')\n", "other.py")
    with Session(path) as session:
        path.write_text(path.read_text().replace("quiz.py", "other.py"))
        with pytest.raises(ConflictError, match=r"names another script now \(open it again\)"):
            session.reload()
    with Session(path) as session:
        assert session.reply().next_prompt == "other? "


def test_an_answer_that_makes_the_record_too_big_is_refused_and_the_session_goes_on(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 2**16)
    path = build.record("while True:\n    print(len(input('? ')))\n")
    with Session(path) as session:
        for _ in range(3):
            session.answer("x" * 2**14)
        before, reply = path.read_bytes(), session.reply().to_dict()
        with pytest.raises(LimitError, match="would be too big for a record") as caught:
            session.answer("x" * 2**15)
        assert caught.value.exit_code == 4
        assert path.read_bytes() == before and session.reply().to_dict() == reply
        assert session.answer("short").print[-1] == "5"
    with Session(path) as session:
        assert [len(answer) for answer in session.record.inputs] == [2**14] * 3 + [5]


def test_an_answer_is_refused_if_its_result_file_cannot_be_written(build: Build) -> None:
    path = build.record(QUIZ)
    path.write_text(f"output: results/r.yaml\n{path.read_text()}")
    with Session(path) as session:
        (build.folder / "results").mkdir()
        result = build.folder / "results" / "r.yaml"
        before = path.read_bytes()
        result.write_text("mine\n")
        with pytest.raises(RecordError, match="is not a result file of quizlog"):
            session.answer("4")
        assert path.read_bytes() == before and session.pointer == 0
        assert result.read_text() == "mine\n"
        result.write_text("")
        assert session.answer("4").pointer == 1
        assert session.rewind(0).pointer == 0
        assert "next_prompt" in result.read_text()


@pytest.mark.parametrize("target", ["elsewhere.yaml", "../elsewhere.yaml", "none.yaml", "r.yaml"])
def test_a_result_file_is_no_link(target: str, build: Build) -> None:
    path = build.record(QUIZ)
    (build.folder / "elsewhere.yaml").write_text("")
    path.write_text(f"output: r.yaml\n{path.read_text()}")
    (build.folder / "r.yaml").symlink_to(target)
    said = r"is a link|is not a file in the record's folder"
    with pytest.raises(RecordError, match=said), Session(path) as session:
        session.answer("4")
    assert (build.folder / "elsewhere.yaml").read_text() == ""
    assert sorted(each.name for each in build.folder.iterdir() if "yaml" in each.name) == [
        "elsewhere.yaml",
        "r.yaml",
        "record.yaml",
    ]


def test_a_result_file_is_made_only_where_the_user_has_made_an_empty_one(build: Build) -> None:
    path = build.record(QUIZ)
    path.write_text(f"output: r.yaml\n{path.read_text()}")
    with Session(path) as session:
        session.answer("4")
        assert session.warnings == [
            "the record asks for a result file that does not exist: "
            "make an empty file r.yaml in its folder if you want it written"
        ]
        assert not (build.folder / "r.yaml").exists()
        (build.folder / "r.yaml").touch()
    with Session(path) as session:
        session.answer("5")
        assert session.warnings == [] and (build.folder / "r.yaml").stat().st_size


def test_a_limit_changes_nothing(build: Build) -> None:
    path = build.record("input()\nwhile True: pass\n")
    before = path.read_bytes()
    with Replayer(Limits(seconds=0.5)) as replayer, Session(path, replayer) as session:
        with pytest.raises(LimitError):
            session.answer("x")
        assert session.pointer == 0
    assert path.read_bytes() == before


def test_a_changed_script_is_told_and_not_refused(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        session.answer("1")
        assert session.warnings == []
    build.script(QUIZ.replace('"total"', '"sum"'))
    with Session(path) as session:
        said = "its answer agrees, then the printed text at step 1 was 'total 1', is 'sum 1'"
        assert said in session.warnings[0]
        assert session.reply().pointer == 1


def test_the_output_file_holds_transcript_and_outcome(build: Build) -> None:
    path = build.record(QUIZ)
    text = path.read_text() + 'output: "result.json"\n'
    path.write_text(text)
    (build.folder / "result.json").touch()
    with Session(path) as session:
        session.answer("1")
        session.answer("bad")
    result = yaml.safe_load((build.folder / "result.json").read_text())
    assert (result["status"], result["score"]) == ("error", 0.3)
    assert [step.get("input") for step in result["steps"]] == ["1", "bad", None]


@pytest.mark.parametrize(
    "output",
    [
        "/tmp/x.yaml",
        "../x.yaml",
        "record.yaml",
        "quiz.py",
        ".",
        "..",
        ".bashrc",
        ".config/x.yaml",
        "a/.x.yaml",
        "ask.py",
        "notes.txt",
        "result",
        "a\\0b.yaml",
        "\\ud800.yaml",
    ],
)
def test_the_output_file_cannot_be_anywhere_else(output: str, build: Build) -> None:
    path = build.record(QUIZ)
    path.write_text(path.read_text() + f'output: "{output}"\n')
    with pytest.raises(RecordError, match="output"):
        Session(path)


def test_an_output_file_that_somebody_else_moved_out_is_refused(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        path.write_text(f"output: ../elsewhere.yaml\n{path.read_text()}")
        with pytest.raises(RecordError, match="not a file in the record's folder"):
            session.reload()
        assert session.record.output is None


def test_the_record_of_a_session_is_the_one_on_disk(build: Build) -> None:
    path = build.record(QUIZ)
    with Session(path) as session:
        for move in (lambda: session.answer("1"), lambda: session.rewind(0), session.undo):
            move()
            assert session.record is session.record
            assert RecordFile(path).read() == session.record


def test_stderr_is_kept_apart_in_outputs(build: Build) -> None:
    path = build.record("import sys\nprint('warn', file=sys.stderr)\ninput()\ninput()\n")
    with Session(path) as session:
        session.answer("x")
    data = on_disk(path)
    assert data["outputs"] == {"stderr": "warn\n"}
    assert data["print"] == []


def test_a_new_record_can_be_opened_and_times_its_end(build: Build) -> None:
    script = build.script("input()\n")
    path = build.folder / "deep" / "new.yaml"
    path.parent.mkdir()
    new_record(script, path, 5, clock=lambda: "2026-01-01T00:00:00+00:00")
    with Session(path, clock=lambda: "2026-01-02T00:00:00+00:00") as session:
        session.answer("x")
    data = on_disk(path)
    assert (data["script"], data["seed"]) == ("../quiz.py", 5)
    assert (data["start_time"], data["end_time"]) == (
        "2026-01-01T00:00:00+00:00",
        "2026-01-02T00:00:00+00:00",
    )
    with Session(path) as session:
        session.rewind(0)
    assert "end_time" not in on_disk(path)


def test_a_missing_script_is_named(build: Build) -> None:
    path = build.record(QUIZ)
    (build.folder / "quiz.py").unlink()
    with pytest.raises(ScriptError, match="does not exist"):
        Session(path)


def test_unsaved_sessions_write_nothing(build: Build) -> None:
    path = build.record(QUIZ)
    before = path.read_bytes()
    with quizlog.open(path, save=False) as session:
        assert session.answer("1").pointer == 1
        assert list(session.record.inputs) == ["1"]
    assert path.read_bytes() == before


def test_kept_answers_are_branches_and_the_record_stays_where_it_is(build: Build) -> None:
    path = build.record(QUIZ, "1", "2")
    with Session(path) as session:
        session.rewind(1)
        assert session.keep(1, "bad").branch == "main"
        session.keep(1, "9", "nine")
        session.keep(0, "8")
        assert (session.record.branch, session.pointer, list(session.record.inputs)) == (
            "main",
            1,
            ["1", "2"],
        )
        kept = [(b.name, b.parent, b.at, b.status, b.score) for b in session.branches[1:]]
        assert kept == [
            ("fork-1", "main", 1, "error", 0.3),
            ("nine", "main", 1, "in_progress", None),
            ("fork-2", "main", 0, "in_progress", None),
        ]
        assert session.transcript_of("nine").inputs == ("1", "9")
        before = path.read_bytes()
        for at, answer, name in ((1, "5", "nine"), (1, "5", "no name"), (7, "5", None)):
            with pytest.raises(UsageError):
                session.keep(at, answer, name)
        with pytest.raises(UsageError, match="no branch 'gone'"):
            session.transcript_of("gone")
        assert path.read_bytes() == before
        session.switch("nine")
        assert session.answer("3").status == "success"


def test_nothing_is_kept_where_nothing_is_asked(build: Build) -> None:
    path = build.record(QUIZ, "bad")
    with Session(path) as session, pytest.raises(UsageError, match="asks nothing at step 1"):
        session.keep(1, "5")


def test_a_record_is_shown_as_recorded_until_it_is_replayed(build: Build) -> None:
    path = build.record(QUIZ, "1", "2")
    with Session(path) as session:
        session.save()
        ran = session.transcript
    with Session(path, replays=False) as session:
        assert session.awaits_replay and session.missing is not None
        assert (session.transcript.print, session.pointer) == (ran.print, 2)
        with pytest.raises(ScriptError, match="was not run yet"):
            session.answer("3")
        session.reload()
        assert not session.awaits_replay and session.missing is None
        assert session.transcript == ran
        assert session.answer("3").status == "success"


def test_what_was_not_read_to_its_end_is_not_overwritten(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build.record(QUIZ, "1")
    with Session(path) as session, Session(path) as other:
        other.answer("2")
        with monkeypatch.context() as patched:
            patched.setattr(live_record, "_settle", cancelled)
            with pytest.raises(CancelledError):
                session.reload()
        assert session.outdated
        with pytest.raises(ConflictError):
            session.answer("9")
        session.reload()
        assert session.answer("3").pointer == 3


def cancelled(*_: object) -> None:
    raise CancelledError("stopped")
