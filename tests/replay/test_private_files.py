"""What lies beside a script by chance, secrets and records, is not there for it, unless it asks."""

from __future__ import annotations

import json
import sys

import pytest

from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script import needed_files as rules
from quizlog_tui.replay.script.source import read_source
from tests.support.build import Build

LISTS = "import os\nprint(sorted(os.listdir('.')))\nanswer = input('? ')\n"
linux = pytest.mark.skipif(sys.platform != "linux", reason="overlays need Linux")


@pytest.fixture
def folder(build: Build) -> Build:
    """A folder with a secret, records, decisions, and data that are none of these."""
    build.record("input()\n", name="other.yaml")
    (build.folder / "other.json").write_text(json.dumps({"script": "quiz.py", "seed": 1}))
    (build.folder / "other.decisions.jsonl").write_text("{}\n")
    (build.folder / ".env").write_text("KEY=secret\n")
    (build.folder / "data.yaml").write_text("seeds: [1]\n")
    (build.folder / "data.json").write_text('{"seed": 1}\n')
    return build


def test_secrets_and_records_are_private(folder: Build) -> None:
    source = read_source(folder.script(LISTS))
    names = [".env", "other.decisions.jsonl", "other.json", "other.yaml"]
    assert rules.private_files(source) == names


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("print(open('.env').read())", True),
        ("import helper", True),
        ("import os\nprint(os.environ)  # .env", False),
    ],
)
def test_a_script_asks_by_a_string_of_its_text(text: str, asked: bool, folder: Build) -> None:
    folder.script("PATH = '.env'\n", name="helper.py")
    source = read_source(folder.script(text + "\ninput()\n"))
    assert (".env" not in rules.private_files(source)) is asked


@linux
def test_a_script_does_not_find_what_is_private(folder: Build) -> None:
    run = replay(folder.script(LISTS), 7, [])
    assert run.print == ["['data.json', 'data.yaml', 'quiz.py']"]
    assert not run.tainted
    assert (folder.folder / ".env").read_text() == "KEY=secret\n"


@linux
def test_an_answer_that_is_code_reads_no_secret_by_any_path(folder: Build) -> None:
    script = folder.script(
        "while True:\n    try: print(eval(input('? ')))\n    except OSError: print('none')\n"
    )
    names = [
        ".env",
        str(folder.folder / ".env"),
        "../" + folder.folder.name + "/.env",
        "other.yaml",
    ]
    answers = [f"open({name!r}).read()" for name in names]
    assert replay(script, 7, answers).print == ["none"] * len(names)


@linux
def test_it_stays_private_after_a_rewind_that_writes(folder: Build) -> None:
    script = folder.script(
        "import os\nfor i in range(4):\n    open(input('? '), 'w').close()\n    print('.' + 'env' in os.listdir())\n"
    )
    with Replayer() as replayer:
        replayer.replay(script, 7, ["a", "b"])
        for answers in (["a", "c"], ["a", "c", "d"], ["x", "y", "z"]):
            assert set(replayer.replay(script, 7, answers).print) == {"False"}
