"""Branches, remarks, library, timeline and export, as a shell sees them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.sessions import QUIZ, on_disk


@pytest.fixture
def forked(run: Run, build: Build) -> Path:
    """A record with the branches `main`, finished, and `other`, which failed."""
    path = build.record(QUIZ, "1", "2", "3")
    assert run("fork", "record.yaml", "1", "bad", "--name", "other")[0] == 1
    assert run("switch", "record.yaml", "main")[0] == 0
    return path


def test_branches_are_renamed_noted_hidden_and_restored(run: Run, forked: Path) -> None:
    code, out, _ = run("rename", "record.yaml", "other", "wrong-one")
    assert code == 0 and "wrong-one  2 answers, from main at step 1, error, score 0.3" in out
    code, out, _ = run("note", "record.yaml", "wrong-one", "try a word")
    assert code == 0 and out.endswith("score 0.3  try a word\n")
    code, out, err = run("delete", "record.yaml", "wrong-one")
    assert code == 0 and "wrong-one" not in out
    assert "`quizlog restore record.yaml wrong-one` restores it" in err
    assert "wrong-one" not in run("branches", "record.yaml")[1]
    assert "score 0.3, deleted 2" in run("branches", "record.yaml", "--deleted")[1]
    assert on_disk(forked)["branches"]["wrong-one"]["inputs"] == ["bad"]  # type: ignore[index]
    code, out, _ = run("restore", "record.yaml", "wrong-one", "--json")
    assert [branch["name"] for branch in json.loads(out)["branches"]] == ["main", "wrong-one"]


REFUSED = [
    (("delete", "record.yaml", "main"), "'main' is the active branch (switch to another"),
    (
        ("delete", "record.yaml", "nobody"),
        "there is no branch 'nobody' (there are: main, other)",
    ),
    (("rename", "record.yaml", "other", "main"), "there is a branch 'main' already"),
    (("rename", "record.yaml", "other", "a b"), "'a b' cannot name a branch"),
    (("rename", "record.yaml", "other"), "required: NEW (see `quizlog rename --help`)"),
    (("feedback", "record.yaml", "4", "x"), "there is no step 4: main has 3 answers"),
    (("feedback", "record.yaml", "0", ""), "the feedback says nothing"),
    (("feedback", "record.yaml", "0", "x", "--verdict", "meh"), "invalid choice: 'meh'"),
    (("feedback", "record.yaml", "--branch", "nobody"), "there is no branch 'nobody'"),
    (("steps", "record.yaml", "--branch", "nobody"), "there is no branch 'nobody'"),
    (("export", "record.yaml", "-o", "x.pdf"), "has no suffix of an export format"),
    (("export", "record.yaml", "-o", "quiz.py"), "has no suffix of an export"),
    (("list", "nowhere"), "nowhere: is not a folder"),
    (("list", "--sort", "age"), "invalid choice: 'age'"),
]


def test_what_cannot_be_done_says_so_and_changes_nothing(run: Run, forked: Path) -> None:
    before = forked.read_bytes()
    for words, said in REFUSED:
        code, out, err = run(*words)
        assert (code, out) == (2, ""), words
        assert said in err and err.count("\n") == 1, words
        assert forked.read_bytes() == before, words


def test_remarks_are_added_listed_and_filtered(run: Run, forked: Path) -> None:
    assert (
        run("feedback", "record.yaml", "1", "fine", "--verdict", "right", "--author", "ann")[0] == 0
    )
    assert (
        run("feedback", "record.yaml", "1", "", "--verdict", "wrong", "--branch", "other")[0] == 0
    )
    assert run("feedback", "record.yaml", "0", "shared", "--author", "")[0] == 0

    def texts(*words: str) -> list[str]:
        found = json.loads(run("feedback", "record.yaml", *words, "--json")[1])["feedback"]
        return [said["text"] or said["verdict"] for said in found]

    assert texts() == ["fine", "wrong", "shared"]
    assert texts("1") == ["fine", "wrong"]
    assert texts("--branch", "other") == ["wrong", "shared"]
    assert texts("--verdict", "none") == ["shared"]
    assert texts("--author", "ann", "--verdict", "right") == ["fine"]
    assert texts("--author", "") == ["shared"]
    out = run("feedback", "record.yaml", "1")[1]
    assert out.startswith("step 1, on main, right, ann, 2") and out.count("\n") == 2


def test_the_library_is_listed_sorted_and_filtered(run: Run, forked: Path) -> None:
    (forked.parent / "bad.yaml").write_text("script: [\nseed: 1\n")
    assert run("new", "quiz.py", "-o", "fresh.yaml", "--seed", "1")[0] == 0
    for age, name in enumerate(("fresh.yaml", "record.yaml", "bad.yaml"), 1):
        os.utime(forked.parent / name, (10**9 - age, 10**9 - age))
    code, out, _ = run("list")
    rows = [line.split()[:2] for line in out.splitlines()]
    assert code == 0
    assert rows == [
        ["record", "status"], ["bad.yaml", "unreadable"], ["fresh.yaml", "in_progress"], ["record.yaml", "success"],
    ]  # fmt: skip

    def names(*words: str) -> list[str]:
        return [
            found["record"] for found in json.loads(run("list", *words, "--json")[1])["records"]
        ]

    assert names("--sort", "steps")[0] == names("--sort", "score")[0] == "record.yaml"
    assert names("--sort", "changed") == ["fresh.yaml", "record.yaml", "bad.yaml"]
    assert names("--status", "unreadable") == ["bad.yaml"]
    [row] = json.loads(run("list", "--status", "success", "--json")[1])["records"]
    assert {key: row[key] for key in ("status", "score", "steps", "recorded", "branches", "seed")} == {
        "status": "success", "score": 1.0, "steps": 3, "recorded": 3, "branches": 2, "seed": 7,
    }  # fmt: skip
    (forked.parent / "empty").mkdir()
    assert run("list", "empty") == (0, "", "quizlog: no record below empty\n")
    narrowed = "quizlog: no record with the status error below empty\n"
    assert run("list", "empty", "--status", "error") == (0, "", narrowed)


def test_the_timeline_in_the_shell(run: Run, forked: Path) -> None:
    run("feedback", "record.yaml", "1", "fine", "--verdict", "right", "--author", "ann")
    run("rewind", "record.yaml", "2")
    code, out, _ = run("steps", "record.yaml")
    lines = out.splitlines()
    assert code == 0 and lines[0].startswith(" 0  number 0?  1") and "line 5  number" in lines[0]
    assert lines[2].startswith("    - step 1, on main, right, ann")
    assert lines[3] == "    / other: bad, error, score 0.3"
    assert lines[4].startswith("·2  number 2?  3")
    assert lines[5].split()[:4] == ["3", "success,", "score", "1"]
    data = json.loads(run("steps", "record.yaml", "--branch", "other", "--json")[1])
    assert (data["branch"], data["status"], data["score"]) == ("other", "error", 0.3)
    assert [step["answer"] for step in data["steps"]] == ["1", "bad", None]
    assert data["steps"][1]["tries"] == [
        {"branch": "main", "answer": "2", "status": "in_progress", "score": None}
    ]


@pytest.mark.parametrize("name", ["x.html", "x.md"])
def test_an_export_names_its_file(name: str, run: Run, forked: Path) -> None:
    code, out, err = run("export", "record.yaml", "-o", name)
    assert (code, out) == (0, f"{name}\n") and "branches written: 2" in err
    assert "\r" not in err
    assert "bad number" in (forked.parent / name).read_text(encoding="utf-8")
    data = json.loads(run("export", "record.yaml", "-o", name, "--json", "--force")[1])
    assert (data["file"], data["branches"]) == (name, ["main", "other"])


def test_no_text_steers_the_terminal(run: Run, build: Build) -> None:
    evil = "\\x1b]0;owned\\x07\\x9b31m\\u202e\\x00"
    text = evil.encode().decode("unicode_escape")
    build.record(f"print('{evil}')\ninput('{evil}')\nraise Exception('{evil}')\n", text)
    for words in (
        ("note", "record.yaml", "main", text),
        ("feedback", "record.yaml", "0", text, "--author", text),
        ("feedback", "record.yaml"),
        ("steps", "record.yaml"),
        ("list",),
        ("branches", "record.yaml", "--deleted"),
        ("export", "record.yaml", "-o", "x.html"),
        ("delete", "record.yaml", text),
    ):
        _, out, err = run(*words)
        assert not set(out + err) & set("\x1b\x07\x9b\u202e\x00"), words
