"""A script of several files: questions, tags, scores and errors in the others are its own."""

from __future__ import annotations

from pathlib import Path

from quizlog_tui.proof.drift import drift_report
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.session.session import Session
from tests.support.build import Build

MAIN = """
    from parts.asking import ask, check
    first = input("first? ")
    second = ask("second? ")
    check(second)
    """
ASKING = """
    def ask(text):
        return input(text)  #radio

    def check(answer):
        if answer != "3":
            raise ValueError("not three")  #score = 0.25
    """


def made(build: Build) -> Path:
    (build.folder / "parts").mkdir()
    build.script(ASKING, "parts/asking.py")
    return build.script(MAIN)


def test_a_question_in_another_file_names_it_and_has_its_tags(build: Build) -> None:
    run = replay(made(build), 1, ["a"])
    assert (run.steps[0].line, run.steps[0].place, run.steps[0].input_type) == (2, "", "text")
    assert (run.last.line, run.last.place) == (3, "parts/asking.py:2")
    assert run.last.input_type == "radio"


def test_tags_of_the_calling_line_come_first(build: Build) -> None:
    made(build)
    script = build.script(MAIN.replace('ask("second? ")', 'ask("second? ")  #textarea'))
    assert replay(script, 1, ["a"]).last.input_type == "textarea"


def test_an_error_in_another_file_has_its_place_and_score(build: Build) -> None:
    run = replay(made(build), 1, ["a", "4"])
    assert run.last_error is not None
    assert (run.last_error.line, run.last_error.place) == (4, "parts/asking.py:6")
    assert run.score == 0.25


def test_the_place_of_an_error_is_kept_in_the_record(build: Build) -> None:
    made(build)
    record = build.record(MAIN, "a")
    with Session(record) as session:
        session.answer("4")
    kept = RecordFile(record).read().last_error
    assert kept is not None and kept.place == "parts/asking.py:6"


def test_libraries_and_files_elsewhere_are_not_the_scripts_own(build: Build) -> None:
    (build.folder / "site-packages").mkdir()
    build.script("def ask():\n    return input('x? ')  #matrix\n", "site-packages/lib.py")
    script = build.script(
        """
        import cmd, sys
        sys.path.append("site-packages")
        import lib
        lib.ask()
        cmd.Cmd().cmdloop()
        """
    )
    run = replay(script, 1, ["1"])
    assert [stop.place for stop in (*run.steps, run.last)] == ["", ""]
    assert run.steps[0].input_type == "text"


def test_a_forged_place_outside_the_folder_is_not_believed(build: Build) -> None:
    outside = build.outside / "secret.py"
    outside.write_text("raise ValueError  #score = 0.9\n")
    name = f"../{build.outside.name}/secret.py"
    script = build.script(
        f"""
        import os
        code = "\\n\\n\\ninput('q? ')\\nraise ValueError('x')"
        exec(compile(code, os.path.dirname(__file__) + {"/" + name!r}, "exec"))
        """
    )
    run = replay(script, 1, ["1"])
    assert run.steps[0].place == ""
    assert run.last_error is not None
    assert (run.last_error.place, run.score) == (None, 0.0)


def test_an_edited_module_is_run_anew_in_the_same_session(build: Build) -> None:
    script = made(build)
    with Replayer() as replayer:
        assert replayer.replay(read_source(script), 1, ["a"]).last.prompt == "second? "
        build.script(ASKING.replace("input(text)", "input(text.upper())"), "parts/asking.py")
        assert replayer.replay(read_source(script), 1, ["a"]).last.prompt == "SECOND? "


def test_drift_names_the_edited_modules_and_data(build: Build) -> None:
    made(build)
    (build.folder / "words.txt").write_text("one\n")
    record = build.record("print(open('words.txt').read())\n" + build.dedent(MAIN).lstrip(), "a")
    with Session(record) as session:
        session.answer("3")
    kept = RecordFile(record).read()
    assert sorted(kept.extras["file_hashes"]) == ["parts/asking.py", "words.txt"]
    build.script(f"# edited\n{build.dedent(ASKING)}", "parts/asking.py")
    (build.folder / "words.txt").unlink()
    with Replayer() as replayer:
        report = drift_report(kept, read_source(build.folder / kept.script), replayer)
    assert not report.changed
    assert report.files == (("parts/asking.py", "edited"), ("words.txt", "missing"))
    with Session(record) as session:
        assert any("parts/asking.py: changed since" in text for text in session.warnings)


def test_a_script_of_one_file_has_no_digests_of_others(build: Build) -> None:
    build.script("secret = 1\n", "unrelated.py")
    record = build.record("input('x? ')\n")
    with Session(record) as session:
        session.answer("3")
    assert "file_hashes" not in RecordFile(record).read().extras


def test_records_are_no_files_of_the_script(build: Build) -> None:
    record = build.record("name = 'record.yaml'\ninput('x? ')\n")
    with Session(record) as session:
        session.answer("3")
    assert "file_hashes" not in RecordFile(record).read().extras
