"""`quizlog new` with the script's own arguments, and from a record."""

from __future__ import annotations

from tests.cli.conftest import Run
from tests.support.build import Build
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
