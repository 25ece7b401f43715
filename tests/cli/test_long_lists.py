"""Long lists of findings: like ones are told once, with a count; the JSON has each of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.support.build import Build

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
