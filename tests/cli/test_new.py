"""`quizlog new` with the script's own arguments, and from a record."""

from __future__ import annotations

import sys
from pathlib import Path

from quizlog_tui.replay.script.interpreter import OWN
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.interpreters import make_environment
from tests.support.sessions import ROUNDS


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
