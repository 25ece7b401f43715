"""What a command does before and after its work: the interpreter it starts early, what it loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quizlog_tui import cli
from tests.support.build import Build


def said_by(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_nothing_that_takes_long_is_loaded_before_the_quiz_s_interpreter_starts() -> None:
    code = (
        "import sys; before = set(sys.modules); import quizlog_tui.cli\n"
        "heavy = {'contextlib', 'pathlib', 're', 'typing', 'quizlog_tui.text'}\n"
        "print(sorted(heavy & sys.modules.keys() - before))"
    )
    assert said_by(code) == "[]"


@pytest.mark.parametrize(
    ("text", "seed"),
    [
        ('script: "quiz.py"\nseed: 2026\n', 2026),
        ('{\n  "script": "quiz.py",\n  "seed": 7,\r\n  "inputs": []\n}\n', 7),
        ("seed: -1\n", 2**32 - 1),
        (f"seed: {2**32 + 5}\n", 5),
        ("script: quiz.py\n", None),
        ("seed: seven\nseeds: 7\n", None),
        (f"seed: {'9' * 31}\n", None),
        ("inputs:\n- seed\n", None),
    ],
)
def test_the_interpreter_of_a_record_is_started_by_its_seed(
    text: str, seed: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "record.yaml"
    record.write_text(text, encoding="utf-8", newline="")
    started: list[int] = []
    monkeypatch.setattr(cli, "prestart", started.append)
    for words in ([str(record), "4"], ["rewind", str(record), "0"]):
        cli.main([*words, "--unknown"])
    assert started == ([] if seed is None else [seed, seed])
    cli.main([str(record), "--unknown", "--help"])
    cli.main(["lint", str(record), "--unknown"])
    assert len(started) in (0, 2)


def test_an_interpreter_that_is_not_taken_is_ended(build: Build) -> None:
    record = build.record("input('? ')\n")
    code = (
        "import os; from quizlog_tui.cli import main\n"
        f"main([{str(record)!r}, '--unknown'])\n"
        "try: print(os.waitpid(-1, os.WNOHANG))\nexcept ChildProcessError: print('none')"
    )
    assert said_by(code) == "none"


def test_an_answer_loads_only_what_it_needs(build: Build) -> None:
    record = build.record("for n in range(3): input(f'{n}? ')\n")
    code = (
        "import sys; from quizlog_tui.cli import main\n"
        f"assert main([{str(record)!r}, '4']) == 0\n"
        "heavy = 'asyncio datetime hashlib logging quizlog_tui.terminal_text rich socket subprocess yaml'\n"
        "print(sorted(sys.modules.keys() & set(heavy.split())))"
    )
    assert said_by(code).split("\n")[-1] == "[]"


@pytest.mark.parametrize(("words", "left"), [("", "True"), ("['help']", "False")])
def test_only_a_process_of_its_own_is_left_unsearched(words: str, left: str) -> None:
    code = (
        "import gc, sys; from quizlog_tui.cli import main; sys.argv[1:] = ['help']\n"
        f"main({words}); print(gc.isenabled(), gc.get_freeze_count() > 0)"
    )
    assert said_by(code).split("\n")[-1] == f"True {left}"


def test_with_the_screens_passes_of_the_garbage_collection_are_rarer() -> None:
    code = (
        "import gc; own = gc.get_threshold()[0]\n"
        "from quizlog_tui.cli.screens import _loading\n"
        "with _loading(): pass\n"
        "print(gc.isenabled(), gc.get_threshold()[0] > own)"
    )
    assert said_by(code) == "True True"
