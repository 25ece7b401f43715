"""Misspelt words of a command line: the refusal names what was meant, and no file is taken for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from quizlog_tui.cli.commands import COMMANDS, parser_of
from quizlog_tui.cli.help import commands
from quizlog_tui.files.paths import example_names
from tests.cli.conftest import Run
from tests.support.build import Build

QUIZ = 'print(input("A? "))\n'


def swapped(name: str) -> str:
    """A name with its second and third letters exchanged, as a hurried hand does."""
    return name[0] + name[2] + name[1] + name[3:]


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("rest", [(), ("r.yaml",), ("r.yaml", "2", "x"), ("r.yaml", "--name", "x")])
def test_a_misspelt_command_is_told_whatever_follows(
    name: str, rest: tuple[str, ...], run: Run, build: Build
) -> None:
    wrong = swapped(name) if swapped(name) != name else name[:-1]
    code, out, err = run(wrong, *rest)
    assert (code, out) == (2, "")
    assert err == (f"quizlog: {wrong}: there is no such command or record (did you mean {name}?)\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("STPES",), "did you mean steps?"),
        (("ls",), "did you mean list?"),
        (("qqqqq", "x", "y"), "no such command or record (`quizlog --help` lists them)"),
        (("adventrue",), "did you mean adventure?"),
        (("steps", "adventrue"), "adventrue: does not exist (did you mean adventure?)"),
        (("verify", "adventrue"), "did you mean adventure?"),
        (("new", "adventrue"), "did you mean adventure?"),
        (("diff", "adventrue@main", "@greedy"), "did you mean adventure?"),
        (("steps", "recrod.yaml"), "recrod.yaml: does not exist (did you mean record.yaml?)"),
        (("recrod.yaml", "x"), "did you mean record.yaml?"),
        (("new", "qiuz.py"), "did you mean quiz.py?"),
        (("lint", "qiuz.py"), "did you mean quiz.py?"),
        (
            ("steps", "record.yaml", "--jsno"),
            "no option --jsno (did you mean --json? see `quizlog s",
        ),
        (("record.yaml", "--explian"), "did you mean --explain?"),
        (("record.yaml", "--wiat=3"), "no option --wiat (did you mean --wait?"),
        (("fork", "--nmae", "x"), "did you mean --name?"),
        (("episodes", "export", "x.jsonl", "--ot", "turns"), "did you mean --to?"),
        (
            ("episodes", "biuld", "record.yaml"),
            "invalid choice: 'biuld' (did you mean build? choose",
        ),
        (("episodes", "export", "x", "--to", "atfi"), "did you mean atif?"),
        (("config", "shwo"), "did you mean show?"),
        (("models", "chekc"), "did you mean check?"),
        (("sandbox", "rnu", "x.py"), "did you mean run?"),
        (("completions", "bsh"), "did you mean bash?"),
        (("help", "prof"), "did you mean proof?"),
        (("record.yaml", "--allow", "real-file"), "did you mean real-files?"),
        (("feedback", "record.yaml", "0", "x", "--verdict", "rihgt"), "did you mean right?"),
        (("screenshot", "record.yaml", "--screen", "plyer"), "did you mean player?"),
        (("screenshot", "record.yaml", "--theme", "quizlog-drak"), "did you mean quizlog-dark?"),
        (("switch", "record.yaml", "mian"), "(did you mean main? there are: main)"),
        (("diff", "record.yaml@mian"), "(did you mean main? there are: main)"),
    ],
)
def test_a_misspelt_word_is_answered_with_what_was_meant(
    words: tuple[str, ...], message: str, run: Run, build: Build
) -> None:
    path = build.record(QUIZ)
    before = path.read_bytes()
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err and err.count("\n") == 1
    assert path.read_bytes() == before


def test_a_file_wins_over_a_name_that_is_like_a_command(run: Run, build: Build) -> None:
    build.script(QUIZ)
    for name in ("stpes", "adventrue"):
        assert run("new", "quiz.py", "-o", f"{name}.yaml")[0] == 0
        Path(f"{name}.yaml").rename(name)
        assert run(name, "5")[:2] == (0, "A? 5\n5\n")
    Path("gone").symlink_to("nowhere.yaml")
    assert "the record does not exist" in run("gone")[2]


def test_only_words_before_the_two_dashes_are_options(run: Run, build: Build) -> None:
    build.record(QUIZ)
    assert run("record.yaml", "--", "--jsno")[:2] == (0, "A? --jsno\n--jsno\n")
    assert run("fork", "record.yaml", "0", "-5")[:2] == (0, "A? -5\n-5\n")
    assert run("fork", "record.yaml", "0", "-x is not an option")[0] == 0


def test_what_is_asked_for_is_named_as_in_the_usage(run: Run) -> None:
    asked = {}
    for name in COMMANDS:
        required = [one["name"] for one in _arguments(name) if one["required"]]
        if required and name != "sandbox":
            _, _, err = run(name)
            asked[name] = re.findall(r"required: (.*) \(see", err)
            missing = set(asked[name][0].split(", ")) - {"-o/--output"}
            assert missing <= set(
                re.findall(r"[^ \[\]]+(?:\[@BRANCH\])?", parser_of(name).entry.usage)
            ), name
    assert asked["new"] == ["SCRIPT"] and asked["sweep"] == ["RECORD, K"]


def _arguments(name: str) -> list[dict[str, object]]:
    (found,) = (each for each in commands() if each["name"] == name)
    arguments: list[dict[str, object]] = found["arguments"]
    return arguments


def test_every_example_is_found_by_a_swapped_letter(run: Run) -> None:
    for name in example_names():
        assert f"did you mean {name}?" in run("steps", swapped(name))[2]
