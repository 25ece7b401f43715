"""The user's own shell lines on keys: checked, found, run, shown and stopped. Nothing is put into them."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.config import EXAMPLES, Config, config_path, template
from quizlog_tui.guides import guide
from quizlog_tui.session.audit import Audit
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.keys.own_commands import VALUES, lines_read_twice, read_own_commands, variable
from quizlog_tui.tui.screens.commands import CommandOutputScreen, ShellRun
from quizlog_tui.tui.screens.library import LibraryScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.player_quizzes import QUIZ
from tests.support.screens import (
    SIZE,
    check,
    found,
    idle,
    opened,
    patiently,
    playing,
    press,
    settled,
    shows,
)

LINE = 'cat -n -- "$QUIZLOG_RECORD"'
GOOD = {"key": "ctrl+g", "run": LINE}
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
    "placeholder": ({**GOOD, "run": "cat x{step}"}, "{step} is not replaced", '"$QUIZLOG_STEP"'),
    "in quotes": ({**GOOD, "run": "cat '{record}'"}, "{record} is not", '"$QUIZLOG_RECORD"'),
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
    entries = {"key": "nokey,B", "run": "{record} {step} {step}", "output": "x", "wrong": "y"}
    found, problems = read_own_commands({"own": entries, "other": {}}, {}, "config.toml")
    said = [problem.message for problem in problems if problem.where.endswith("own")]
    assert not found and len(problems) == 8
    for part in ("'wrong'", "'x'", "'nokey'", "'B'", "{step}", "{record}"):
        assert sum(part in message for message in said) == 1


@pytest.mark.parametrize(
    "line",
    [
        "grep -c 4 \"$(cat '{}')\"",
        "awk '{print}' x{a,b} {what}",
        'echo "${HOME}" "${record}" \\\' "a \\" b"',
        'echo "$(basename "$QUIZLOG_RECORD" ".yaml")"',
    ],
)
def test_what_the_shell_means_by_braces_and_quotes_is_let_be(line: str) -> None:
    assert read_own_commands({"own": {"key": "ctrl+g", "run": line}}, {}, "")[1] == []


@pytest.mark.parametrize(
    "value",
    ["$(touch hacked)", "`touch hacked`", "'; touch hacked; '", '"; touch hacked #', "a\nb"],
)
def test_the_shell_reads_no_value_as_code(value: str, home: Path) -> None:
    for read in ('"$QUIZLOG_ANSWER"', '"$(printf %s "$QUIZLOG_ANSWER")"', 'x"$QUIZLOG_ANSWER"'):
        done = ShellRun(f"printf %s {read}", {variable("answer"): value}).run()
        assert done.output.removeprefix("x") == value
    assert list(home.iterdir()) == []


READ_TWICE = {
    'eval "$QUIZLOG_ANSWER"': "eval",
    "echo $(( $QUIZLOG_STEP + 1 ))": "$((",
    "(( QUIZLOG_ANSWER > 1 ))": "$((",
    'sh -c "wc $QUIZLOG_RECORD"': "sh -c",
    "/bin/bash -e -xc 'echo '\"$QUIZLOG_ANSWER\"": "sh -c",
    'ssh host cat "$QUIZLOG_RECORD"': "ssh",
    'let x="$QUIZLOG_ANSWER"': "let",
    "[[ $QUIZLOG_ANSWER -eq 4 ]] && ls": "[[",
    "echo `basename $QUIZLOG_RECORD`": "a pair of backticks",
    "echo `ls`; ls `\necho ${QUIZLOG_BRANCH}`": "a pair of backticks",
}


@pytest.mark.parametrize("line", READ_TWICE)
def test_a_line_that_may_have_a_value_read_as_code_is_named(line: str) -> None:
    commands = {"own": {"key": "ctrl+g", "run": line}}
    [problem] = lines_read_twice(commands, "config.toml")
    assert str(problem).startswith(
        f"config.toml: commands.own: a value within {READ_TWICE[line]} may be read as code ("
    )
    assert len(read_own_commands(commands, {}, "")[0]) == 1


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        'echo $(( 1 + 2 )) `date` "$QUIZLOG_STEP"',
        'eval "$(ssh-agent)"',
        'medieval "$QUIZLOG_RECORD"; finish -c; test "$QUIZLOG_STEP" -eq 4',
    ],
)
def test_any_other_line_is_not_named(line: str) -> None:
    assert not list(lines_read_twice({"own": {"run": line}, "other": {}}, ""))


def test_the_check_of_the_settings_names_lines(capsys: pytest.CaptureFixture[str]) -> None:
    config_path().parent.mkdir(parents=True, exist_ok=True)
    old, code = "git log --patch -- {record}", 'eval "$QUIZLOG_ANSWER"'
    commands = ((old, "f8"), (code, "f9"), ('echo "$QUIZLOG_STEP; rm ~', "f12"))
    lines = [f"[commands.{key}]\nkey = '{key}'\nrun = '{run}'\n" for run, key in commands]
    config_path().write_text("".join(lines))
    assert main(["config", "check"]) == 2
    said = capsys.readouterr().err
    assert 'commands.f8: {record} is not replaced by a value (write "$QUIZLOG_RECORD")' in said
    assert "commands.f9: a value within eval may be read as code" in said
    assert "commands.f12: the shell cannot read its line: " in said
    assert said.count("commands.f12") == 1


def test_the_example_in_the_settings_is_right_and_all_values_are_named() -> None:
    example = tomllib.loads(f"[commands]\n{EXAMPLES['commands']}")["commands"]
    assert read_own_commands(example, {}, "")[1] == list(lines_read_twice(example, "")) == []
    in_guide = guide("screens").split("## Your own commands")[1].split("\n## ")[0]
    for name in VALUES:
        assert f"${variable(name)}" in template() and f"`{variable(name)}`" in in_guide


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ, "Ada", "28")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder, where commands run."""
    folder = tmp_path / "own home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def configured(run: str, output: str = "pane") -> Config:
    return Config(commands={"try it": {"key": "ctrl+g", "run": run, "output": output}})


EVERYTHING = " ".join(f'"${variable(name)}"' for name in VALUES)


async def test_golden_command(record: Path) -> None:
    name = '"$(basename "$QUIZLOG_RECORD")"'
    line = "printf '%s\\n' " + EVERYTHING.replace('"$QUIZLOG_RECORD"', name) + "; exit 3"
    async with playing(record, configured(line), clock=FrozenClock()) as pilot:
        await press(pilot, "escape", "h")
        await pilot.press("ctrl+g")
        await opened(pilot, CommandOutputScreen)
        check("command", SIZE, screen_text(pilot.app))
        await pilot.press("q")
        await settled(pilot)


async def test_output_is_shown_as_on_a_terminal_and_harmlessly(record: Path) -> None:
    line = "printf 'half\\rdone\\n\\033[31mred\\033[0m\\ttab\\n\\n\\033]0;owned\\007[/red]\\n'"
    async with playing(record, configured(line)) as pilot:
        await pilot.press("ctrl+g")
        await opened(pilot, CommandOutputScreen)
        await shows(pilot, "done")
        rows = [row.strip("│ ") for row in screen_text(pilot.app).splitlines()]
        assert rows[2:5] == ["done", "red    tab", ""]
        assert rows[5] == "[/red]"


async def test_output_goes_to_the_pager_or_nowhere(
    record: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paged: list[str] = []
    monkeypatch.setattr("quizlog_tui.tui.external.page", lambda app, text: paged.append(text))
    async with playing(record, configured("echo out; echo err >&2", "pager")) as pilot:
        await pilot.press("ctrl+g")
        await idle(pilot)
        while not paged:
            await pilot.pause()
        assert paged == ["out\nerr\n"]
    async with playing(
        record, configured("echo x > written; exit 5", "none"), notifications=True
    ) as pilot:
        await pilot.press("ctrl+g")
        await shows(pilot, "try it: exit code 5")
        assert (home / "written").read_text() == "x\n"


async def test_escape_stops_a_command(record: Path) -> None:
    async with playing(record, configured("echo begun; sleep 1000 & wait")) as pilot:
        await press(pilot, "escape")
        await pilot.press("ctrl+g")
        await shows(pilot, "running try it; Escape stops it")
        await pilot.press("escape")
        await opened(pilot, CommandOutputScreen)
        await shows(pilot, "ended by signal 15")
        await shows(pilot, "begun")


async def test_leaving_ends_a_command_that_will_not_stop(record: Path, home: Path) -> None:
    async with playing(
        record, configured("trap '' TERM; echo $$ > pid; while :; do sleep 1; done")
    ) as pilot:
        await pilot.press("ctrl+g")
        await shows(pilot, "running try it; Escape stops it")
        for _ in patiently():
            if (home / "pid").exists() and (home / "pid").read_text():
                break
            await pilot.pause()
        await pilot.press("ctrl+q")
    number = int((home / "pid").read_text())
    for _ in patiently():
        if not Path(f"/proc/{number}").exists():
            return
    raise AssertionError("it runs on")


async def test_a_command_that_writes_without_end_is_stopped(record: Path) -> None:
    async with playing(record, configured(f"yes {'y' * 999}")) as pilot:
        await pilot.press("ctrl+g")
        await shows(pilot, "it wrote more than 1 MB")


@pytest.mark.parametrize("question", ["a\\0b? ", "long" * 40_000])
async def test_a_value_that_no_program_can_be_given_is_told(question: str, build: Build) -> None:
    path = build.record(f"input('{question}')\n")
    commands = {
        "asked": {"key": "ctrl+g", "run": 'echo "$QUIZLOG_QUESTION"'},
        "other": {"key": "f9", "run": "echo fine"},
    }
    async with playing(path, Config(commands=commands), notifications=True) as pilot:
        await pilot.press("ctrl+g")
        await shows(pilot, "QUIZLOG_QUESTION holds what no program can be given")
        await pilot.press("f9")
        await shows(pilot, "fine")


@pytest.mark.parametrize("output", ["pane", "none"])
async def test_a_command_runs_in_no_folder_of_a_stranger(
    output: str, record: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the record's folder nor the current one, which have programs and settings."""
    stranger = record.parent
    for folder in (stranger, stranger / "sub"):
        folder.mkdir(exist_ok=True)
        for name in ("date", "make", "git"):
            (folder / name).write_text(f"#!/bin/sh\ntouch {stranger}/PWNED\n")
            (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f":.:./sub:../stranger:{os.environ['PATH']}")
    line = 'date >/dev/null; printf "%s\\n" "$PWD" "$QUIZLOG_RECORD" "$QUIZLOG_STEP" >part; mv part done'
    for place in (stranger, stranger / "sub"):
        (home / "done").unlink(missing_ok=True)
        monkeypatch.chdir(place)
        async with playing(Path(os.path.relpath(record)), configured(line, output)) as pilot:
            await pilot.press("ctrl+g")
            for _ in patiently():
                if (home / "done").exists():
                    break
                await pilot.pause()
        where, given, step = (home / "done").read_text().splitlines()
        assert (where, os.path.isabs(given), step) == (str(home), True, "2")
        assert Path(given).samefile(record)
    assert not (stranger / "PWNED").exists()


async def test_a_line_with_a_placeholder_does_not_run_and_the_others_do(
    record: Path, home: Path
) -> None:
    bad = {"key": "f9", "run": "touch ran {record}"}
    good = {"key": "ctrl+g", "run": "echo fine"}
    app = QuizlogApp(record, Config(commands={"bad": bad, "good": good}))
    async with app.run_test(notifications=True, size=(120, 30)) as pilot:
        await shows(pilot, "commands.bad: {record} is not replaced by a value")
        await settled(pilot)
        await pilot.press("f9")
        await idle(pilot)
        await pilot.press("ctrl+g")
        await shows(pilot, "fine")
    assert not (home / "ran").exists()


async def test_the_library_runs_a_command_on_the_marked_record(record: Path) -> None:
    commands = {
        "name": {"key": "ctrl+g", "run": 'basename "$QUIZLOG_RECORD"'},
        "step": {"key": "f9", "run": 'echo "$QUIZLOG_STEP"'},
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
        await shows(pilot, "step needs QUIZLOG_STEP, which only a record that is open has")


async def test_no_command_runs_in_audit_mode(record: Path, home: Path) -> None:
    for where in (record, record.parent):
        app = QuizlogApp(where, configured("touch written"), audit=Audit("--read-only"))
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            await shows(pilot, "[locked]")
            await idle(pilot)
            await pilot.press("ctrl+g")
            await shows(pilot, "locked; this would write: whatever the command try it does")
    assert not (home / "written").exists()


async def test_commands_are_in_the_help_and_the_palette(record: Path) -> None:
    async with playing(record, configured(LINE), size=(100, 60)) as pilot:
        await press(pilot, "escape")
        await pilot.press("question_mark")
        await shows(pilot, "On this screen")
        await pilot.press(*"/Your own", "enter")
        await shows(pilot, f"ctrl+g try it: {LINE}")
        await pilot.press("escape", "escape")
        await settled(pilot)
        await pilot.press("ctrl+p", *"try it")
        await found(pilot, f"try it: {LINE} (ctrl+g)")
