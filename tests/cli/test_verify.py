"""`quizlog verify` and `--keep-files`, as a shell sees them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.session.session import Session
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.processes import IS_UP, is_up
from tests.support.recorded_runs import EXAM, FORGED, recorded


@pytest.fixture
def path(build: Build) -> Path:
    made = build.record("print('hello')\nprint('you said', input('name? '))\ninput('more? ')\n")
    with Session(made) as session:
        session.answer("Ada")
    return made


def test_a_reproducible_record_is_exit_code_0(run: Run, path: Path) -> None:
    assert run("verify", path.name) == (0, "reproducible\n", "")


@pytest.mark.parametrize(
    ("source", "code"), [("print('hi')\n", 0), ("raise Exception('no')\n", 1), ("input()\n", 0)]
)
def test_a_record_just_made_is_reproducible(source: str, code: int, run: Run, build: Build) -> None:
    build.script(source)
    assert run("new", "quiz.py")[0] == code
    assert run("verify", "quiz.yaml") == (0, "reproducible\n", "")


def test_a_difference_is_exit_code_3_with_both_texts(run: Run, path: Path) -> None:
    path.write_text(path.read_text().replace("hello", "hallo"))
    code, out, err = run("verify", path.name)
    assert code == 3 and out.startswith("diverges at step 0 (print, unknown)")
    assert "recorded: hallo" in err and "replayed: hello" in err
    code, out, _ = run("verify", path.name, "--json")
    data = json.loads(out)
    assert code == 3 and data["schema_version"] == 1
    keys = ("verdict", "step", "what", "recorded", "replayed", "cause")
    assert [data[key] for key in keys] == ["diverges", 0, "print", "hallo", "hello", "unknown"]
    assert set(data["world"]) == {"fixed", "missing", "isolation", "met", "relies_on"}


def test_text_of_which_only_the_fingerprint_is_recorded_was_not_kept(
    run: Run, build: Build
) -> None:
    """As on a branch that is not the active one, after an edit of a data file."""
    data = build.folder / "data.txt"
    data.write_text("1")
    path = build.record("if input('a? ') == 'x': print(open('data.txt').read())\ninput('b? ')\n")
    with Session(path) as session:
        session.answer("x")
        session.fork(0, "y", "other")
    data.write_text("2")
    code, out, err = run("verify", path.name)
    assert code == 3 and "at step 1 of branch main (print, " in out
    assert "recorded: not kept, only that it differs" in err and "replayed: 2" in err
    found = json.loads(run("verify", path.name, "--json")[1])
    assert (found["what"], found["recorded"], "no_text" in found) == ("print", None, False)
    shown = run("check", ".", "--markdown", "report.md")[1]
    assert "the printed text: not kept, only that it differs -> '2\\n'" in shown
    assert "\n(not kept, only that it differs)\n" in Path("report.md").read_text()
    assert "was not kept, only that it differs, is '2\\n'" in "".join(run("drift", path.name)[1:])


def test_what_cannot_be_verified_is_exit_code_4(run: Run, build: Build) -> None:
    build.record("import time  #quizlog: real-clock\ninput(time.time())\n")
    code, out, _ = run("verify", "record.yaml")
    assert (code, out) == (4, "cannot be verified: it asks for the real clock\n")


def test_a_forged_record_of_branches_is_exit_code_3(run: Run, build: Build) -> None:
    build.script(EXAM, "exam.py")
    (build.folder / "forged.yaml").write_text(FORGED.read_text())
    code, out, _ = run("verify", "forged.yaml")
    assert code == 3 and out.startswith("diverges at step 2 (outcome, ")


def test_thorough_replays_each_branch_alone(run: Run, build: Build) -> None:
    source = read_source(build.script("while input('? '): pass\n"))
    RecordFile(build.folder / "record.yaml").create(
        recorded(source, [[name] for name in "abcdefg"])
    )
    assert run("bundle", "record.yaml", "-o", "it.zip")[0] == 0
    some, each = ("6 of 7 branches (--thorough: all)", "all 7 branches")
    for options, said, alone in (((), some, 6), (("--thorough",), each, 7)):
        one = json.loads(run("verify", "record.yaml", *options, "--json")[1])
        (row,) = json.loads(run("verify", "--all", ".", *options, "--json")[1])["records"]
        bundle = json.loads(run("verify", "it.zip", *options, "--json")[1])
        assert {(data["alone"], data["branches"]) for data in (one, row, bundle)} == {(alone, 7)}
        told = (0, "reproducible\n", f"   replayed alone: {said}\n")
        assert run("verify", "record.yaml", *options) == told


def test_a_folder_of_records(run: Run, path: Path, build: Build) -> None:
    code, out, err = run("verify", "--all", ".")
    assert (code, out) == (0, "reproducible  record.yaml\n")
    assert err == "-- 1 record: 1 reproducible\n"
    (build.folder / "bad.yaml").write_text("script: gone.py\nseed: 1\n")
    code, out, err = run("verify", "--all", ".")
    assert code == 2 and "unreadable: the script does not exist  bad.yaml" in out
    path.write_text(path.read_text().replace("hello", "hallo"))
    code, out, _ = run("verify", "--all", ".", "--json")
    rows = json.loads(out)["records"]
    assert code == 3
    assert [row["verdict"] for row in rows] == ["unreadable", "diverges"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["verify"], "which record?"),
        (["verify", "record.yaml", "--all", "."], "which record?"),
        (["verify", "record.yaml", "--watch", "--json"], "--watch and --json cannot be combined"),
        (["verify", "--all", "missing"], "is not a folder"),
        (["verify", "--all", "empty"], "holds no records"),
        (["verify", "nothing.yaml"], "does not exist"),
    ],
)
def test_wrong_calls_say_what_to_do(words: list[str], said: str, run: Run, path: Path) -> None:
    (path.parent / "empty").mkdir()
    code, _, err = run(*words)
    assert code == 2 and said in err


def test_a_folder_against_an_edited_script(run: Run, path: Path) -> None:
    other = path.with_name("other.yaml")
    other.write_text(path.read_text().replace("Ada", "Bob"))
    script = path.with_name("quiz.py")
    script.write_text(script.read_text().replace("hello", "hallo"))
    code, out, err = run("verify", "--all", ".")
    assert code == 3
    assert [line.endswith(f"[fits amended]  {name}") for line, name in zip(
        out.splitlines(), ["other.yaml", "record.yaml"], strict=True)] == [True, True]  # fmt: skip
    assert "against the edited script: 2 amended" in err
    script.write_text("# quiz\n" + script.read_text().replace("hallo", "hello"))
    code, out, err = run("verify", "--all", ".")
    assert "reproducible, though the script was edited [fits all]  record.yaml" in out
    assert "against the edited script: " in err


def test_watching_judges_again_at_each_save(path: Path) -> None:
    command = [sys.executable, "-m", "quizlog_tui", "verify", path.name, "--watch"]
    script = path.parent / "quiz.py"
    with subprocess.Popen(command, cwd=path.parent, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline() == "reproducible\n"
        assert "watching" in process.stderr.readline()
        script.write_text(script.read_text().replace("you said", "you wrote"))
        assert "diverges at step 1 (print, code-changed)" in process.stdout.readline()
        script.write_text(script.read_text().replace("you wrote", "you said"))
        assert process.stdout.readline() == "reproducible\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130


@pytest.mark.parametrize("name", ["helper.py", "words.txt"])
def test_watching_sees_what_the_script_needs(name: str, build: Build) -> None:
    build.script("WORD = 'blue'\n", "helper.py")
    (build.folder / "words.txt").write_text("red")
    quiz = "import helper\nprint(helper.WORD, open('words.txt').read())\ninput('? ')\n"
    with Session(build.record(quiz)) as session:
        session.save()
    file = build.folder / name
    command = [sys.executable, "-m", "quizlog_tui", "verify", "record.yaml", "--watch"]
    with subprocess.Popen(command, cwd=build.folder, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline() == "reproducible\n"
        assert "watching" in process.stderr.readline()
        file.write_text(file.read_text().replace("red", "green").replace("blue", "black"))
        assert "diverges at step 0 (print, code-changed)" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130


@pytest.mark.parametrize("words", [["record.yaml"], ["--all", "."]])
def test_ctrl_c_answers_at_once(words: list[str], build: Build) -> None:
    build.record(f"{IS_UP}\nwhile True: pass\n")
    command = [sys.executable, "-m", "quizlog_tui", "verify", *words]
    with subprocess.Popen(command, cwd=build.folder, stderr=subprocess.PIPE) as process:
        while not is_up():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr and process.stderr.read() == b"quizlog: interrupted\n"


def test_a_script_over_its_limit_stops_no_other_record(run: Run, build: Build) -> None:
    for name in ("a", "b", "c", "d"):
        (build.folder / name).mkdir()
        endless = "while True: print('x' * 1000)" if name == "a" else "input('? ')"
        replace(build, folder=build.folder / name).record(endless)
    code, out, _ = run("verify", "--all", ".")
    assert code == 4
    assert [line.split()[0].rstrip(":;") for line in out.splitlines()] == [
        "cannot", "reproducible", "reproducible", "reproducible",
    ]  # fmt: skip


def test_files_are_kept_where_asked(run: Run, build: Build) -> None:
    build.record("open('made', 'w').write('x')\ninput('? ')\n")
    code, _, err = run("record.yaml", "--keep-files", "out")
    assert code == 0 and "quizlog: out: made\n" in err
    assert (build.folder / "out" / "made").read_text() == "x"
    assert sorted(os.listdir(build.folder)) == ["out", "quiz.py", "record.yaml"]
    assert run("record.yaml", "--keep-files", "record.yaml")[0] == 2
    code, _, err = run("record.yaml", "--keep-files", "out")
    assert code == 2 and "out: is not empty (name a new folder" in err


def test_the_record_says_what_was_fixed(run: Run, path: Path) -> None:
    text = path.read_text()
    assert 'world:\n- "fixed: hashes ' in text and '- "python: ' in text
