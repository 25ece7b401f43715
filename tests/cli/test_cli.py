"""The command line, as a shell sees it: stdout, stderr, exit codes, files."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from quizlog_tui.cli import main
from quizlog_tui.cli.commands import COMMANDS
from quizlog_tui.cli.streams import search_paused
from quizlog_tui.config import config_path
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.script.interpreter import OWN
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.corpus import CORPUS
from tests.support.interpreters import make_environment
from tests.support.long_runs import examples
from tests.support.plain import run_plain
from tests.support.processes import IS_UP, is_up
from tests.support.sessions import QUIZ, ROUNDS

pytestmark = pytest.mark.core


def test_a_questionnaire_from_the_shell(run: Run, build: Build) -> None:
    build.script(QUIZ)
    code, out, err = run("new", "quiz.py", "-o", "r.yaml", "--seed", "7")
    assert code == 0 and out.startswith("start ") and out.endswith("number 0? \n")
    assert "waiting for an answer: number" in err
    code, out, _ = run("r.yaml", "4")
    assert code == 0 and "number 0? 4\ntotal 4\nnumber 1? \n" in out
    code, out, err = run("r.yaml", "bad")
    assert code == 1 and "quiz.py:7: bad number (score 0.3)" in err
    assert run("r.yaml")[0] == 1
    code, out, _ = run("r.yaml", "5")
    assert code == 0 and "total 9" in out
    code, out, _ = run("r.yaml", "6")
    assert code == 0 and out.endswith("total 15\ndone\n")
    code, out, _ = run("rewind", "r.yaml", "1")
    assert code == 0 and out.endswith("number 1? \n")
    code, out, _ = run("fork", "r.yaml", "0", "-5", "--name", "other")
    assert code == 0 and "number 0? -5\ntotal -5" in out
    code, out, _ = run("branches", "r.yaml")
    assert code == 0
    assert "  main    3 answers, from the start, success, score 1\n" in out
    assert "  main-1  2 answers, from main at step 1, error, score 0.3\n" in out
    assert "* other   1 answer, from main at step 0, in_progress\n" in out
    assert run("switch", "r.yaml", "main")[1].endswith("done\n")


def test_a_script_without_questions_is_finished_on_disk(run: Run, build: Build) -> None:
    build.script("print('no question')\n")
    assert run("new", "quiz.py", "-o", "r.yaml")[0] == 0
    kept = RecordFile(build.folder / "r.yaml").read()
    assert (kept.status, list(kept.print)) == ("success", ["no question"])


def test_json_is_one_object_with_the_keys_of_the_reply(run: Run, build: Build) -> None:
    build.record(QUIZ)
    _, out, _ = run("record.yaml", "4", "--json", "--new")
    reply = json.loads(out)
    assert reply == {
        "schema_version": 1, "status": "in_progress", "pointer": 1, "next_prompt": "number 1? ",
        "input_type": "number", "choices": [], "print": ["total 4"], "last_error": None,
        "score": None, "branch": "main", "record": "record.yaml",
    }  # fmt: skip
    _, out, _ = run("--json", "branches", "record.yaml")
    assert json.loads(out)["branches"][0]["name"] == "main"
    code, out, _ = run("record.yaml", "bad", "--json")
    assert code == 1
    assert json.loads(out)["last_error"] == {"message": "bad number", "line": 7, "score": 0.3}


ODD = [("",), ("-5",), ("--", "--x"), ("--", "-5"), ("--", ""), ("--", "--"), ("--", "--json")]


@pytest.mark.parametrize(
    ("option", "words"),
    [("", words) for words in ODD]
    + [(option, words) for option in ("--new", "--explain") for words in ODD[1:3]],
)
def test_odd_answers_are_answers_wherever_options_stand(
    option: str, words: tuple[str, ...], run: Run, build: Build
) -> None:
    build.record("print(repr(input()))\n")
    _, out, _ = run("record.yaml", *filter(None, [option]), *words)
    assert out.endswith(f"{words[-1]!r}\n")


@pytest.mark.parametrize(
    "words",
    [
        ("fork", "record.yaml", "--json", "0", "--", "--x"),
        ("amend", "--json", "record.yaml", "0", "--", "--x"),
        ("record.yaml", "--json", "--", "--x"),
        ("--json", "--", "record.yaml", "--x"),
    ],
)
def test_an_answer_after_two_dashes_is_taken_as_it_is(
    words: tuple[str, ...], run: Run, build: Build
) -> None:
    path = build.record("while True: input()\n", "1")
    code, out, _ = run(*words)
    assert code == 0 and json.loads(out)["status"] == "in_progress"
    assert "--x" in yaml.safe_load(path.read_text())["inputs"]
    _, out, _ = run("sweep", "record.yaml", "0", "--json", "--", "-a", "--", "-1.5")
    assert [one["answer"] for one in json.loads(out)["results"]] == ["-a", "--", "-1.5"]


def test_an_answer_can_come_on_stdin(
    run: Run, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.record("print(repr(input()))\n")
    (build.folder / "answer").write_bytes(b"two\nlines\n")
    with (build.folder / "answer").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        _, out, _ = run("record.yaml", "--stdin")
    assert "'two\\nlines'" in out


@pytest.mark.parametrize("name", ["subprocess", "unicode", "binary stdout", "five megabytes"])
def test_raw_is_what_a_plain_run_writes(name: str, run: Run, build: Build) -> None:
    source, answers = CORPUS[name]
    build.record(source, *answers)
    command = [sys.executable, "-m", "quizlog_tui", "record.yaml", "--raw"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.stdout == run_plain(build.folder / "quiz.py", answers).stdout


WARNING = """
import sys
for n in range(2):
    print("round", n)
    print("careful", n, end=chr(27), file=sys.stderr)
    input("n? ")
"""


def test_stderr_of_a_script_is_shown_on_request(run: Run, build: Build) -> None:
    build.record(WARNING, "1")
    _, out, err = run("record.yaml")
    _, same, shown = run("record.yaml", "--stderr")
    assert same == out == "round 0\nn? 1\nround 1\nn? \n"
    assert "careful" not in err
    assert shown == f"careful 0␛\ncareful 1␛\n{err}"
    assert run("record.yaml", "--stderr", "--new", "2")[2].startswith("-- finished")


def test_stderr_of_a_script_stands_in_its_place(run: Run, build: Build) -> None:
    build.record(WARNING, "1")
    command = [sys.executable, "-m", "quizlog_tui", "record.yaml", "--stderr"]
    both = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, encoding="utf-8"
    ).stdout
    assert both.startswith("round 0\ncareful 0␛\nn? 1\nround 1\ncareful 1␛\nn? \n-- waiting")


def test_json_has_stderr_step_by_step_only_on_request(run: Run, build: Build) -> None:
    build.record(WARNING)
    assert "stderr" not in json.loads(run("record.yaml", "--json")[1])
    found = json.loads(run("record.yaml", "1", "--json", "--stderr")[1])
    assert found["stderr"] == ["careful 0\x1b", "careful 1\x1b"]
    found = json.loads(run("record.yaml", "2", "--json", "--stderr", "--new")[1])
    assert found["stderr"] == [""]


def test_control_sequences_of_a_script_never_reach_the_terminal(run: Run, build: Build) -> None:
    evil = "\\x1b]0;owned\\x07\\x9b31m\\u202e\\x00"
    build.record(f"print('{evil}')\ninput('{evil}')\nraise Exception('{evil}')\n")
    for words in (("record.yaml",), ("record.yaml", "x"), ("branches", "record.yaml")):
        _, out, err = run(*words)
        assert not set(out + err) & set("\x1b\x07\x9b\u202e\x00")


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


BOMB = "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(50))
HEAD = "script: quiz.py\nseed: 1\n"
WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda p: None, "does not exist (make one with `quizlog new SCRIPT`)"),
    "missing script": (text("script: gone.py\nseed: 1\n"), "the script does not exist"),
    "script is a folder": (text("script: .\nseed: 1\n"), "is a directory, not a script"),
    "no name for a script": (text('script: "a\\0b"\nseed: 1\n'), "no file can have this name"),
    "directory": (lambda p: p.mkdir(), "is a directory"),
    "empty": (text(""), "is empty"),
    "invalid YAML": (text("script: 'x\nseed: 1\n"), "r.yaml:3:1: not valid YAML"),
    "no record": (text("hello\n"), "must be a mapping"),
    "wrong types": (text(HEAD + "inputs: [1]\n"), "inputs[0]: must be text, is a whole number"),
    "negative pointer": (text(HEAD + "pointer: -1\n"), "must not be negative"),
    "pointer past": (text(HEAD + "pointer: 1\n"), "past the 0 inputs"),
    "alias bomb": (text(BOMB), "uses the alias"),
    "200 MB": (lambda p: os.truncate(os.open(p, os.O_CREAT | os.O_RDWR), 200 << 20), "too big"),
    "not UTF-8": (lambda p: p.write_bytes(b"\xff\xfe"), "is not UTF-8"),
    "unknown status": (text(HEAD + "status: maybe\n"), "unknown status"),
}


@pytest.mark.parametrize(("make", "message"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("words", [(), ("answer",)], ids=["show", "answer"])
def test_what_is_wrong_is_one_line_and_changes_nothing(
    make: Callable[[Path], object], message: str, words: tuple[str, ...], run: Run, build: Build
) -> None:
    build.script("input()\n")
    path = build.folder / "r.yaml"
    make(path)
    before = sorted(item.name for item in build.folder.iterdir())
    code, out, err = run("r.yaml", *words)
    assert (code, out) == (2, "")
    assert message in err and err.count("\n") == 1 and "Traceback" not in err
    assert sorted(item.name for item in build.folder.iterdir()) == before
    code, out, _ = run("r.yaml", *words, "--json")
    assert (
        code == 2 and message.split(" (")[0].split(": ")[-1] in json.loads(out)["error"]["message"]
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rewind", "record.yaml", "9"), "there is no step 9: the record has 0 answers"),
        (("rewind", "record.yaml", "-1"), "there is no step -1"),
        (("rewind", "record.yaml", "x"), "invalid int value"),
        (("rewind", "record.yaml"), "required: K"),
        (("fork", "record.yaml", "3", "x"), "there is no step 3"),
        (("switch", "record.yaml", "nope"), "there is no branch 'nope'"),
        (("new", "gone.py"), "the script does not exist"),
        (("new", "quiz.py", "-o", "record.yaml"), "exists already"),
        (
            ("new", "quiz.py", "-o", "none/a.yaml"),
            "No such file or directory (make the folder first)",
        ),
        (("verify", ""), "is a directory, not a record"),
        (("screenshot", "record.yaml", "-o", "/"), "cannot write"),
        (("screenshot", "record.yaml", "-o", "."), "(name a file, not a folder)"),
        (("new", "."), "is a directory, not a script"),
        (("new", "/"), "is a directory, not a script"),
        (("new", "record.yaml"), "name it: quizlog new record.yaml -o RECORD"),
        (("record.yaml", "a", "b"), "unrecognized arguments: b"),
        (
            ("record.yaml", "--nope"),
            "there is no option --nope (did you mean --new? see `quizlog --help`)",
        ),
        (("record.yaml", "x", "--stdin"), "two answers"),
        (("--json",), "which record?"),
        (("tui",), "the screens need a terminal"),
        ((), "the screens need a terminal"),
        (("record.yaml", "--json", "--raw"), "--json and --raw exclude each other"),
        (("screenshot", "record.yaml", "-o", "a.png"), "as .png (choose .svg or .txt)"),
    ],
)
def test_wrong_calls_say_what_to_do(
    words: tuple[str, ...], message: str, run: Run, build: Build
) -> None:
    path = build.record(QUIZ)
    before = path.read_bytes()
    code, _, err = run(*words)
    assert code == 2
    assert message in err and err.count("\n") == 1
    assert path.read_bytes() == before


def test_a_script_in_place_of_a_record_leads_to_its_record(run: Run, build: Build) -> None:
    build.script(QUIZ)
    for words in (("quiz.py",), ("quiz.py", "4"), ("verify", "quiz.py"), ("steps", "quiz.py")):
        code, out, err = run(*words)
        assert (code, out) == (2, "") and err.count("\n") == 1
        assert "quiz.py: is a script, not a record (make one with `quizlog new quiz.py`)" in err
    run("new", "quiz.py")
    assert "is a script, not a record (its record is quiz.yaml)" in run("quiz.py", "4")[2]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("b.zip", b"PK\x03\x04rest", "a ZIP archive, such as a bundle"),
        ("ep.jsonl", b'{"a": 1}\n', "a file of lines such as episodes"),
        ("record.decisions.jsonl", b"{}\n", "a file of decisions"),
    ],
)
def test_a_file_of_another_kind_is_named_with_the_command_that_opens_it(
    name: str, data: bytes, message: str, run: Run, build: Build
) -> None:
    (build.folder / name).write_bytes(data)
    code, out, err = run(name)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert f"{name}: is {message}, not a record" in err
    opens = "quizlog decisions RECORD" if "decisions" in name else f"quizlog tui {name}"
    assert opens in err


def test_a_locked_record_is_exit_code_4(run: Run, build: Build) -> None:
    path = build.record(QUIZ)
    before = path.read_bytes()
    with RecordFile(path).locked():
        code, _, err = run("record.yaml", "4", "--wait", "0.05")
        assert run("record.yaml")[0] == 0
    assert code == 4 and "is locked by another process" in err
    assert path.read_bytes() == before
    assert run("record.yaml")[0] == 0


@pytest.mark.skipif(
    os.getuid() == 0 and not shutil.which("setpriv"), reason="root may write anywhere"
)
def test_a_read_only_folder_is_named_and_still_shown(build: Build) -> None:
    path = build.record(QUIZ)
    before = path.read_bytes()
    build.folder.chmod(0o555)
    unprivileged = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] * (os.getuid() == 0)
    command = [*unprivileged, sys.executable, "-m", "quizlog_tui", str(path)]
    show = subprocess.run(command, capture_output=True, text=True, check=False)
    answer = subprocess.run([*command, "4"], capture_output=True, text=True, check=False)
    build.folder.chmod(0o755)
    assert show.returncode == 0
    assert answer.returncode == 2
    assert "cannot write: Permission denied" in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert path.read_bytes() == before


def test_a_limit_of_the_settings_is_exit_code_4(run: Run, build: Build) -> None:
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text("[limits]\nseconds = 0.3\n", encoding="utf-8")
    build.record("while True: pass\n")
    code, _, err = run("record.yaml")
    assert code == 4 and "ran 0.3 seconds without asking" in err


def test_a_closed_pipe_is_no_failure(build: Build) -> None:
    build.record("print('x' * 1000000)\ninput()\n")
    command = f"{sys.executable} -m quizlog_tui record.yaml | head -c 10"
    done = subprocess.run(["sh", "-c", command], cwd=build.folder, capture_output=True, check=True)
    assert done.stdout == b"x" * 10
    assert b"Traceback" not in done.stderr


def test_ctrl_c_is_exit_code_130(build: Build) -> None:
    build.record(f"{IS_UP}\nwhile True: pass\n")
    command = [sys.executable, "-m", "quizlog_tui", "record.yaml"]
    with subprocess.Popen(command, cwd=build.folder, stderr=subprocess.PIPE) as process:
        while not is_up():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr and process.stderr.read() == b"quizlog: interrupted\n"


def test_kill_9_at_any_moment_keeps_every_acknowledged_answer(build: Build) -> None:
    path = build.record("while True: input()\n")

    def begun(answer: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "quizlog_tui", "record.yaml", answer, "--json"]
        return subprocess.Popen(
            command, cwd=build.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    start = time.monotonic()
    with begun("whole") as process:
        assert process.wait() == 0
    whole, acknowledged = time.monotonic() - start, 1
    moments = examples(8)
    for index in range(moments):
        with begun(str(index)) as process:
            time.sleep(
                1.25 * whole * index / moments
            )  # the moment of the kill is the point here, not a wait
            process.kill()
            assert process.stdout
            out = process.stdout.read()
        data = yaml.safe_load(path.read_text())
        if out.endswith(b"\n"):
            acknowledged = json.loads(out)["pointer"]
        assert data["pointer"] == len(data["inputs"]) >= acknowledged


def test_doctor_looks_and_tells(run: Run) -> None:
    code, out, _ = run("doctor")
    assert code == 0 and "python" in out and "missing" not in out
    assert json.loads(run("doctor", "--json")[1])["findings"]


def test_doctor_names_the_browser_or_what_is_wrong_with_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> dict[str, Any]:
        found = json.loads(run("doctor", "--json")[1])["findings"]
        return next(one for one in found if one["name"] == "browser")

    monkeypatch.setenv("BROWSER_EXECUTABLE", sys.executable)
    assert said() == {
        "name": "browser",
        "ok": True,
        "says": f"{sys.executable}: quizzes on web pages",
    }
    monkeypatch.setenv("BROWSER_EXECUTABLE", "/nope")
    assert said()["ok"] is False
    assert "there is no browser '/nope'" in said()["says"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert f"quizlog {command}" in capsys.readouterr().out


def test_a_shipped_example_is_known_by_name(run: Run) -> None:
    code, out, _ = run("arithmetic")
    assert code == 0 and out.startswith("Five sums")


def test_all_aliases_are_installed() -> None:
    for name in ("quizlog", "quizlog.py", "quizlog-tui"):
        script = Path(sys.executable).with_name(name)
        done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("quizlog 0.")


def test_a_sweep_takes_answers_from_a_file(run: Run, build: Build) -> None:
    path = build.record(QUIZ, "1")
    (build.folder / "more.txt").write_text("2\nbad\n", encoding="utf-8")
    before = path.read_bytes()
    code, out, err = run("sweep", "record.yaml", "1", "-5", "--from", "more.txt", "--json")
    results = json.loads(out)["results"]
    assert (code, err) == (0, "")
    assert [one["answer"] for one in results] == ["-5", "2", "bad"]
    assert [one["score"] for one in results] == [None, None, 0.3]
    assert path.read_bytes() == before
    code, out, err = run("sweep", "record.yaml", "1")
    assert (code, out) == (2, "") and "which answers? (name them, or use --from FILE" in err
    code, out, err = run("sweep", "record.yaml", "1", "--from", "gone.txt")
    assert (code, out) == (2, "") and "gone.txt: cannot read" in err


def test_screenshots_say_that_their_times_are_frozen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["screenshot", "--help"])
    assert "Times are\nfrozen" in capsys.readouterr().out


def test_arguments_in_the_shell(run: Run, build: Build) -> None:
    build.script(ROUNDS)
    code, out, _ = run("new", "quiz.py", "--seed", "1", "--", "--rounds", "1", "Ann")
    assert (code, out) == (0, "round 0 of 1: \n")
    assert run("quiz.yaml", "x")[1].endswith("Ann x\n")
    code, out, _ = run("new", "quiz.yaml", "-o", "bob.yaml", "--", "--rounds", "1", "Bob")
    assert (code, out) == (0, "round 0 of 1: x\nBob x\n")
    code, _, err = run("new", "quiz.yaml", "--", "Bob")
    assert code == 2 and "-o RECORD" in err


def test_the_usage_of_a_script_is_shown(run: Run, build: Build) -> None:
    build.script(ROUNDS)
    code, _, err = run("new", "quiz.py")
    assert code == 1
    assert "exit status 2" in err
    assert "   stderr: usage: quiz.py [-h] [--rounds ROUNDS] name\n" in err
    assert "the following arguments are required: name" in err


def test_a_missing_module_is_told_with_the_interpreter_and_what_to_do(
    run: Run, build: Build
) -> None:
    build.script("import tiny\nprint(tiny.__name__)\n")
    code, _, err = run("new", "quiz.py")
    assert code == 1
    assert f"it ran with Python {OWN.version} ({OWN.program}); " in err
    assert "quizlog new quiz.py --python PATH" in err
    make_environment(Path(sys._base_executable), build.folder / "libraries", tiny="")
    code, out, _ = run("new", "quiz.py", "-o", "b.yaml", "--python", "libraries/bin/python")
    assert (code, out) == (0, "tiny\n")
    assert run("new", "quiz.py", "-o", "c.yaml", "--python", "libraries/none")[0] == 2


def test_the_search_is_paused_and_goes_on_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError), search_paused():
        assert not gc.isenabled()
        raise ValueError
    assert gc.isenabled()


def test_a_pause_within_a_pause_does_not_end_it() -> None:
    with search_paused():
        with search_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
