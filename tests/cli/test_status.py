"""The status in a record's file: what `show` says, after any command that writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quizlog_tui.record.store import RecordFile
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.long_runs import few

ASKS = 'if input("A? ") == "no":\n    raise Exception("bad")  #score = 0.4\n'
RECORDS = {
    "no question": ("print('hi')\n", "", "success"),
    "an error before any question": ("raise Exception('x')\n", "", "error"),
    "answered to the end": (ASKS, 'inputs: ["5"]\npointer: 1\n', "success"),
    "answered to an error": (ASKS, 'inputs: ["no"]\npointer: 1\n', "error"),
    "rewound": (ASKS, 'inputs: ["5"]\npointer: 0\n', "in_progress"),
    "without a status": (ASKS, 'inputs: ["5"]\npointer: 1\n', "success"),
}
"""A script, what a record made by hand holds, and how it stands."""
WRONG = {"success": "in_progress", "error": "success", "in_progress": "success"}
"""What somebody wrote for each status."""
WRITING = {
    "rewind": lambda pointer: ("rewind", "r.yaml", str(pointer)),
    "feedback": lambda pointer: ("feedback", "r.yaml", "0", "seen"),
    "note": lambda pointer: ("note", "r.yaml", "main", "seen"),
    "rename": lambda pointer: ("rename", "r.yaml", "main", "first"),
    "switch": lambda pointer: ("switch", "r.yaml", "main"),
    "migrate": lambda pointer: ("migrate", "r.yaml"),
    "answer": lambda pointer: ("r.yaml", "5"),
}


def made_by_hand(build: Build, name: str) -> Path:
    source, rest, status = RECORDS[name]
    build.script(source)
    path = build.folder / "r.yaml"
    line = "" if name == "without a status" else f"status: {WRONG[status]}\n"
    path.write_text(f"script: quiz.py\nseed: 1\n{line}{rest}")
    return path


PAIRS = [(name, command) for command in WRITING for name in RECORDS]
DIAGONAL = [(tuple(RECORDS)[turn % len(RECORDS)], command) for turn, command in enumerate(WRITING)]
"""Each command and each record once."""


@pytest.mark.parametrize("pair", few(PAIRS, *DIAGONAL), ids="-".join)
def test_what_is_shown_and_what_the_file_says_agree_after_a_command_that_writes(
    pair: tuple[str, str], run: Run, build: Build
) -> None:
    name, command = pair
    path = made_by_hand(build, name)
    run(*WRITING[command](RecordFile(path).read().pointer))
    shown = json.loads(run("r.yaml", "--json")[1])
    record = RecordFile(path).read()
    assert (record.status, record.pointer) == (shown["status"], shown["pointer"])
    assert f'status: "{shown["status"]}"' in path.read_text()


@pytest.mark.parametrize("name", few(RECORDS, "answered to an error", "rewound"))
def test_commands_that_only_read_write_nothing(name: str, run: Run, build: Build) -> None:
    path = made_by_hand(build, name)
    path.chmod(0o444)
    before = path.read_bytes()
    for words in (
        ("r.yaml",),
        ("steps", "r.yaml"),
        ("verify", "r.yaml"),
        ("branches", "r.yaml"),
        ("drift", "r.yaml"),
        ("export", "r.yaml", "-o", "r.html"),
    ):
        assert run(*words)[0] in (0, 1, 3, 4), words
        assert path.read_bytes() == before
    assert f'"status": "{RECORDS[name][2]}"' in run("r.yaml", "--json")[1]


def test_a_refused_answer_says_why_also_where_the_file_cannot_be_written(
    run: Run, build: Build
) -> None:
    path = made_by_hand(build, "no question")
    real = build.outside / "r.yaml"
    path.rename(real)
    path.symlink_to(real)
    before = real.read_bytes()
    code, _, err = run("r.yaml", "5")
    assert code == 2 and "the questionnaire is finished; nothing is asked" in err
    assert real.read_bytes() == before


def test_a_status_that_is_none_is_named(run: Run, build: Build) -> None:
    path = made_by_hand(build, "no question")
    path.write_text(path.read_text().replace("in_progress", "finished"))
    before = path.read_bytes()
    code, _, err = run("r.yaml", "5")
    assert code == 2 and "status" in err and err.count("\n") == 1
    assert path.read_bytes() == before
