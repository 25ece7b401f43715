"""The user's own shell lines on keys: checked, found, quoted, run, shown and stopped."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from quizlog_tui.config import Config
from quizlog_tui.session.audit import Audit
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.keys.own_commands import PLACEHOLDERS, read_own_commands, shell_line, variable
from quizlog_tui.tui.screens.commands.output import CommandOutputScreen
from quizlog_tui.tui.screens.library.library import LibraryScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.player_quizzes import QUIZ
from tests.support.screens import (
    check,
    found,
    idle,
    opened,
    patiently,
    press,
    settled,
    shows,
    sized,
)

GOOD = {"key": "ctrl+g", "run": "git log -- {record}"}
WRONG = {
    "no key": ({"run": "ls"}, "has no key", 'key = "ctrl+g"'),
    "no line": ({"key": "ctrl+g", "run": " "}, "has no run", "run ="),
    "unknown setting": ({**GOOD, "outptu": "pane"}, "no setting 'outptu'", "did you mean output?"),
    "unknown output": ({**GOOD, "output": "file"}, "output cannot go to 'file'", "pane, pager"),
    "no such key": ({**GOOD, "key": "ctrl+gg"}, "'ctrl+gg' is no key", "ctrl+x"),
    "taken by the player": ({**GOOD, "key": "B"}, "'B' would do both player.bisect", "another"),
    "taken by a pane": ({**GOOD, "key": "j"}, "'j' would do both list.down", "another"),
    "taken by the key map": ({**GOOD, "key": "f9"}, "'f9' would do both player.fork", "another"),
    "taken by a command": ({**GOOD, "key": "f8"}, "'f8' would do both commands.first", "another"),
    "unknown placeholder": ({**GOOD, "run": "cat {recrod}"}, "no {recrod}", "mean {record}?"),
    "in quotes": ({**GOOD, "run": "cat '{record}'"}, "{record} stands in quotes", "leave them out"),
    "open quote": ({**GOOD, "run": "echo 'x"}, "the quote ' is not closed", "close it"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_each_fault_of_a_command_is_named_with_its_mend(fault: str) -> None:
    entries, said, hint = WRONG[fault]
    first = {"key": "f8", "run": "ls"}
    found, [problem] = read_own_commands(
        {"first": first, "second": entries}, {"player.fork": "f9"}, "config.toml"
    )
    assert [command.name for command in found] == ["first"]
    assert problem.where == "config.toml: commands.second"
    assert said in problem.message and hint in problem.hint


def test_all_faults_of_a_command_are_named() -> None:
    entries = {"key": "nokey,B", "run": "ls {what} '{record}'", "output": "x", "wrong": "y"}
    found, problems = read_own_commands({"own": entries, "other": {}}, {}, "config.toml")
    said = [problem.message for problem in problems if problem.where.endswith("own")]
    assert not found and len(problems) == 8
    for part in ("'wrong'", "'x'", "'nokey'", "'B'", "{what}", "{record}"):
        assert sum(part in message for message in said) == 1


@pytest.mark.parametrize(
    "line",
    [
        "grep -c {answer} \"$(cat '{}')\"",
        "awk '{print}' {record}",
        'echo "${HOME}" \\\' "a \\" b"',
        'echo "$(basename {record} ".yaml")"',
    ],
)
def test_what_the_shell_means_by_braces_and_quotes_is_let_be(line: str) -> None:
    assert read_own_commands({"own": {"key": "ctrl+g", "run": line}}, {}, "")[1] == []


@pytest.mark.parametrize(
    "value",
    ["$(touch hacked)", "`touch hacked`", "'; touch hacked; '", '"; touch hacked #', "a\nb"],
)
def test_no_value_is_read_as_code_wherever_it_stands(value: str, tmp_path: Path) -> None:
    for line in ("printf %s {answer}", 'printf %s "$(printf %s {answer})"', "printf %s x{answer}"):
        environment = {"PATH": "/usr/bin:/bin", variable("answer"): value}
        done = subprocess.run(
            shell_line(line), shell=True, cwd=tmp_path, env=environment, capture_output=True
        )
        assert done.stdout.decode().removeprefix("x") == value
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ, "Ada", "28")


def configured(run: str, output: str = "pane") -> Config:
    return Config(commands={"try it": {"key": "ctrl+g", "run": run, "output": output}})


EVERYTHING = " ".join(f"{{{name}}}" for name in PLACEHOLDERS)


@sized((200, 60))
async def test_golden_command(size: tuple[int, int], record: Path) -> None:
    line = "printf '%s\\n' " + EVERYTHING.replace("{record}", '"$(basename {record})"') + "; exit 3"
    app = QuizlogApp(record, configured(line), clock=FrozenClock())
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "h")
        await pilot.press("ctrl+g")
        await opened(pilot, CommandOutputScreen)
        check("command", size, screen_text(app))
        await pilot.press("q")
        await settled(pilot)


async def test_output_is_shown_harmlessly(record: Path) -> None:
    app = QuizlogApp(record, configured("printf '\\033]0;owned\\007[/red]'"))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("ctrl+g")
        await shows(pilot, "␛]0;owned␇[/red]")


async def test_output_is_shown_as_on_a_terminal(record: Path) -> None:
    line = "printf 'half\\rdone\\n\\033[31mred\\033[0m\\ttab\\n\\nend\\n'"
    app = QuizlogApp(record, configured(line))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("ctrl+g")
        await opened(pilot, CommandOutputScreen)
        await shows(pilot, "done")
        rows = [row.strip("│ ") for row in screen_text(app).splitlines()]
        assert rows[2:6] == ["done", "red    tab", "", "end"]


async def test_output_goes_to_the_pager_or_nowhere(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paged: list[str] = []
    monkeypatch.setattr("quizlog_tui.tui.external.page", lambda app, text: paged.append(text))
    app = QuizlogApp(record, configured("echo out; echo err >&2", "pager"))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("ctrl+g")
        await idle(pilot)
        while not paged:
            await pilot.pause()
        assert paged == ["out\nerr\n"]
    app = QuizlogApp(record, configured("echo x > written; exit 5", "none"))
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+g")
        await shows(pilot, "try it: exit code 5")
        assert (record.parent / "written").read_text() == "x\n"


async def test_escape_stops_a_command(record: Path) -> None:
    app = QuizlogApp(record, configured("echo begun; sleep 1000 & wait"))
    async with app.run_test() as pilot:
        await settled(pilot)
        await press(pilot, "escape")
        await pilot.press("ctrl+g")
        await shows(pilot, "running try it; Escape stops it")
        await pilot.press("escape")
        await opened(pilot, CommandOutputScreen)
        await shows(pilot, "ended by signal 15")
        await shows(pilot, "begun")


async def test_leaving_ends_a_command_that_will_not_stop(record: Path) -> None:
    app = QuizlogApp(record, configured("trap '' TERM; echo $$ > pid; while :; do sleep 1; done"))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("ctrl+g")
        await shows(pilot, "running try it; Escape stops it")
        for _ in patiently():
            if (record.parent / "pid").exists() and (record.parent / "pid").read_text():
                break
            await pilot.pause()
        await pilot.press("ctrl+q")
    number = int((record.parent / "pid").read_text())
    for _ in patiently():
        if not Path(f"/proc/{number}").exists():
            return
    raise AssertionError("it runs on")


async def test_a_command_that_writes_without_end_is_stopped(record: Path) -> None:
    app = QuizlogApp(record, configured("yes"))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("ctrl+g")
        await shows(pilot, "it wrote more than 1 MB")


async def test_a_value_that_no_program_can_be_given_is_told(build: Build) -> None:
    path = build.record("input('a\\0b? ')\n")
    app = QuizlogApp(path, configured("echo {question}"))
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+g")
        await shows(pilot, "{question} holds a character that no program can be given")


async def test_the_library_runs_a_command_on_the_marked_record(record: Path) -> None:
    commands = {
        "name": {"key": "ctrl+g", "run": "basename {record}"},
        "step": {"key": "f9", "run": "echo {step}"},
    }
    app = QuizlogApp(record.parent, Config(commands=commands))
    async with app.run_test(notifications=True) as pilot:
        await opened(pilot, LibraryScreen)
        await shows(pilot, "1 record")
        await pilot.press("ctrl+g")
        await opened(pilot, CommandOutputScreen)
        await shows(pilot, "record.yaml")
        await pilot.press("q")
        await opened(pilot, LibraryScreen)
        await pilot.press("f9")
        await shows(pilot, "step needs {step}, which only a record that is open has")


async def test_no_command_runs_in_audit_mode(record: Path) -> None:
    for where in (record, record.parent):
        app = QuizlogApp(where, configured("touch written"), audit=Audit("--read-only"))
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            await shows(pilot, "[locked]")
            await idle(pilot)
            await pilot.press("ctrl+g")
            await shows(pilot, "locked; this would write: whatever the command try it does")
    assert not (record.parent / "written").exists()


async def test_commands_are_in_the_help_and_the_palette(record: Path) -> None:
    app = QuizlogApp(record, configured("git log -- {record}"))
    async with app.run_test(size=(100, 60)) as pilot:
        await settled(pilot)
        await press(pilot, "escape")
        await pilot.press("question_mark")
        await shows(pilot, "On this screen")
        await pilot.press(*"/Your own", "enter")
        await shows(pilot, "ctrl+g try it: git log -- {record}")
        await pilot.press("escape", "escape")
        await settled(pilot)
        await pilot.press("ctrl+p", *"try it")
        await found(pilot, "try it: git log -- {record} (ctrl+g)")


async def test_a_wrong_command_is_told_and_the_others_work(record: Path) -> None:
    commands = {"bad": {"key": "f9", "run": "'"}, "good": {"key": "ctrl+g", "run": "echo fine"}}
    app = QuizlogApp(record, Config(commands=commands))
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await shows(pilot, "commands.bad: the quote ' is not closed")
        await pilot.press("ctrl+g")
        await shows(pilot, "fine")
