"""What the shell shows: colours, names that look alike, long lists, who answered."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.cli import main
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.who import Giver
from quizlog_tui.session.session import Session
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.terminal import Terminal, quizlog

COLORED = r"""
import sys
sys.stdout.write("10%\r\033[K\033[31m100%\033[0m\n")
print("\033]0;owned\007\033[2J")
input("\033[32mYour name?\033[0m ")
"""


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(COLORED)


def on_terminal(record: Path, **env: str) -> str:
    with Terminal(quizlog(str(record)), env=env) as terminal:
        terminal.end()
        return terminal.seen.decode()


def test_colours_pass_to_a_terminal_and_nothing_else_does(record: Path) -> None:
    seen = on_terminal(record, NO_COLOR="")
    assert "\x1b[31m100%\x1b[0m" in seen and "\x1b[32mYour name?\x1b[0m" in seen
    assert "10%\r" not in seen
    assert "owned" not in seen
    assert "\x1b]" not in seen and "\x1b[2J" not in seen


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colours_gets_none(env: dict[str, str], record: Path) -> None:
    seen = on_terminal(record, **env)
    assert "100%" in seen and "\x1b" not in seen


def test_a_pipe_gets_the_text_as_it_was_written(record: Path) -> None:
    done = subprocess.run(quizlog(str(record)), capture_output=True, text=True, check=True)
    assert "10%␍␛[K␛[31m100%␛[0m" in done.stdout and "\x1b" not in done.stdout


NAMES = ["main", "ma\u200cin", "main\u3164", "main\ufe0f", "main\U000e0100", "می\u200cخ", "میخ"]
SHOWN = [
    "main", r"ma\u200cin", r"main\u3164", r"main\ufe0f", r"main\U000e0100", r"می\u200cخ", "میخ"
]  # fmt: skip


def test_branches(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    path = build.record("input('one? ')\ninput('two? ')\n")
    with Session(path) as session:
        session.answer("1")
        for number, name in enumerate(NAMES[1:]):
            session.fork(0, str(number), name=name)
        session.switch("main")
    assert main(["branches", str(path)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row[2:].split()[0] for row in rows] == SHOWN
    assert len({row.index(" answer,") for row in rows}) == 1


def test_records(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    record = RecordFile(build.record("input('? ')\n")).read()
    for number, name in enumerate(NAMES):
        RecordFile(build.folder / f"{name}.yaml").create(replace(record, seed=number))
    (build.folder / "record.yaml").unlink()
    assert main(["list", str(build.folder)]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert sorted(row.split()[0] for row in rows) == sorted(f"{name}.yaml" for name in SHOWN)


QUIZ = 'print(input("A? "))\n'
MANY = 40


def lines_of(run: Run, *words: str) -> list[str]:
    """What a command says to people, on both streams."""
    _, out, err = run(*words)
    return (out + err).splitlines()


def data_of(run: Run, *words: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(run(*words, "--json")[1])
    return data


@pytest.fixture
def branched(build: Build) -> Path:
    """A record with many branches that somebody wrote by hand."""
    path = build.record(QUIZ)
    branches = "".join(
        f'  b{n}: {{parent: main, at: 0, inputs: ["{n}"], status: success, score: 1.0}}\n'
        for n in range(MANY)
    )
    path.write_text(f"{path.read_text()}branches:\n{branches}")
    return path


def test_branches_that_keep_too_little_are_told_once_by_verify(branched: Path, run: Run) -> None:
    said = lines_of(run, "verify", "record.yaml")
    told = [line for line in said if "not recorded" in line]
    assert len(said) < 12 and len(told) == 1
    assert f"{MANY} branches (b0, b1, b2, ...): " in told[0]
    assert len(data_of(run, "verify", "record.yaml")["not_judged"]) == MANY + 1


def test_branches_that_drift_alike_are_told_once(branched: Path, run: Run, build: Build) -> None:
    build.script(QUIZ.replace("A?", "B?"))
    said = lines_of(run, "drift", "record.yaml")
    assert len(said) < 6 and any(f"{MANY} branches (b0, b1, b2, ...)  " in line for line in said)
    assert len(data_of(run, "drift", "record.yaml")["branches"]) == MANY + 1


def test_records_that_cannot_be_read_are_told_once(run: Run, build: Build) -> None:
    build.record(QUIZ)
    for number in range(MANY):
        Path(f"bad-{number:03}.yaml").write_text("script: quiz.py\nseed: nine\n")
    names = [f"bad-{number:03}.yaml" for number in range(MANY)]
    said = lines_of(run, "coverage", "quiz.py", "record.yaml", *names)
    told = [line for line in said if "left out: " in line]
    assert len(told) == 1 and f"{MANY} records (bad-000.yaml" in told[0]
    assert len(data_of(run, "coverage", "quiz.py", "record.yaml", *names)["left_out"]) == MANY
    said = lines_of(run, "episodes", "build", *names, "-o", "e.jsonl")
    assert sum("left out: " in line for line in said) == 1
    found = data_of(run, "find", "x", ".")
    assert len(found["not_searched"]) == MANY and names[0] in found["not_searched"][0]


def test_traps_of_one_kind_are_told_once_by_lint(run: Run, build: Build) -> None:
    build.script("import random\n" + "random.seed(5)\n" * MANY)
    said = lines_of(run, "lint", "quiz.py")
    assert len(said) < 6 and any(f"{MANY} lines (2, 3, 4, ...) trap" in line for line in said)
    assert len(data_of(run, "lint", "quiz.py")["traps"]) == MANY


def test_lines_that_break_one_rule_are_told_once_by_check(run: Run, build: Build) -> None:
    Path("e.jsonl").write_text("{}\n" * MANY)
    said = lines_of(run, "episodes", "check", "e.jsonl")
    assert len(said) < 30 and any(f"{MANY} lines (1, 2, 3, ...): error: " in one for one in said)
    assert len(data_of(run, "episodes", "check", "e.jsonl")["errors"]) >= MANY


def test_decisions_that_cannot_be_read_are_told_in_few_lines(run: Run, build: Build) -> None:
    build.record(QUIZ)
    Path("record.decisions.jsonl").write_text("{}\n" * MANY)
    said = lines_of(run, "decisions", "record.yaml")
    assert sum("left out: " in line for line in said) == 1
    assert len(data_of(run, "decisions", "record.yaml")["left_out"]) == MANY


def test_many_wrong_settings_are_told_in_few_lines(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "quizlog"
    folder.mkdir()
    wrong = "".join(f"qqqqqqqq{n} = 1\n" for n in range(MANY))
    (folder / "config.toml").write_text(wrong)
    said = [line for line in lines_of(run, "config", "check") if "there is no such setting" in line]
    assert len(said) == 1 and f"{MANY} settings (" in said[0]
    assert len(data_of(run, "config", "check")["problems"]) == MANY


def test_steps_tell_who_gave_each_answer(run: Run, build: Build) -> None:
    path = build.record("for n in range(4): input(f'{n}? ')\n", "old")
    assert run("record.yaml", "typed")[0] == 0
    with Session(path) as session:
        session.answer("three", giver=Giver("screen", "person", "ann"))
    code, out, _ = run("steps", "record.yaml", "--json")
    givers = [step["who"] for step in json.loads(out)["steps"]]
    assert code == 0 and givers[0] is givers[3] is None
    assert givers[1].keys() == {"door", "time"} and givers[1]["door"] == "shell"
    assert (givers[2]["by"], givers[2]["name"], givers[2]["door"]) == ("person", "ann", "screen")
    _, out, _ = run("steps", "record.yaml")
    assert [line.endswith("  ann") for line in out.splitlines()] == [False, False, True, False]


def test_steps_of_one_giver_are_listed(run: Run, build: Build) -> None:
    path = build.record("for n in range(12): input(f'{n}? ')\n", "old")
    with Session(path, giver=Giver("mcp", "model", "M-1 (client)")) as session:
        for number in range(10):
            session.answer(str(number))
        session.answer("last", giver=Giver("screen", "person", "ann"))
    listed = run("steps", "record.yaml")[1].splitlines()
    for wanted, steps in (
        ("ANN", [11]), ("person", [11]), ("screen", [11]), ("unknown", [0]),
        ("m-1 (client)", range(1, 11)), ("model", range(1, 11)), ("mcp", range(1, 11)),
    ):  # fmt: skip
        code, out, _ = run("steps", "record.yaml", "--by", wanted, "--json")
        assert code == 0 and [step["at"] for step in json.loads(out)["steps"]] == [*steps]
        lines = run("steps", "record.yaml", "--by", wanted)[1].splitlines()
        assert [line.split()[:3] for line in lines] == [listed[at].split()[:3] for at in steps]
    code, out, err = run("steps", "record.yaml", "--by", "bob")
    assert (code, out) == (2, "")
    assert "no answer is by 'bob'" in err
    assert 'answers are by: "M-1 (client)", "ann", "mcp", "model", "person", "screen", "un' in err
