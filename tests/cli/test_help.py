"""What the command line says of itself: help with examples that work, completions, misspelt words."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.cli.commands import COMMANDS, LIST, parse, parser_of
from quizlog_tui.cli.help import GRAMMAR, commands
from quizlog_tui.files.paths import example_names, shipped
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.documents import GUIDES
from tests.support.man_page import command_list, grammar, man_page

NOT_CHEAP = {"tui", "demo", "serve", "mcp", "task", "demo-server", "models"}
"""They need a terminal, a browser or models of one's own, or go on until one stops them."""


def words(command: str) -> list[str]:
    return [command, *shlex.split(parser_of(command).entry.example)]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_is_shown_and_understood(command: str) -> None:
    parser = parser_of(command)
    assert f"example:\n  {parser.entry.call}\n" in parser.format_help()
    assert parse(words(command)).run


def test_the_examples_work_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("httpx")
    monkeypatch.chdir(tmp_path)
    shutil.copy(shipped("records") / "adventure" / "quiz.py", tmp_path)
    (tmp_path / "code.py").write_text("answer = 6 * 7\n", encoding="utf-8")
    for command in COMMANDS:
        if command not in NOT_CHEAP:
            code = main(words(command))
            said = capsys.readouterr()
            expected = {0, 1} if command in ("fork", "amend", "doctor", "switch") else {0}
            expected |= {3} if command in ("diff", "lint") else set()
            assert code in expected, f"{command}: {code}\n{said.out}{said.err}"


PAGE = GUIDES / "quizlog.1"


def script_for(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completions", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("quizlog ver", "verify"),
        ("quizlog fork --na", "--name"),
        ("quizlog episodes ch", "check"),
        ("quizlog episodes --keep-r", "--keep-retries"),
        ("quizlog config in", "init"),
    ],
)
def test_bash_completes(words: str, completed: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not shutil.which("bash"):
        pytest.skip("there is no bash here")
    count = len(words.split()) - 1
    script = script_for("bash", capsys)
    script += f"COMP_WORDS=({words})\nCOMP_CWORD={count}\n_quizlog\necho ${{COMPREPLY[@]}}\n"
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True)
    assert (done.stdout.split(), done.stderr) == ([completed], "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_names_every_command_and_is_read_by_its_shell(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script = script_for(shell, capsys)
    for command in COMMANDS:
        assert re.search(rf"(?<![\w-]){command}(?![\w-])", script)
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell} here")
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_tells_the_options_of_a_subcommand_as_they_are_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    episodes = "complete -c quizlog -n '__fish_seen_subcommand_from episodes; and "
    lines = [line for line in script_for("fish", capsys).splitlines() if " -l output " in line]
    told = {line.split("from ")[2].split("'")[0]: line for line in lines if episodes in line}
    assert "new episodes are added" in told["build"] and "to stdout" in told["export"]


@pytest.mark.parametrize(
    ("path", "made"), [(GRAMMAR, grammar), (PAGE, man_page), (LIST, command_list)]
)
def test_the_grammar_the_man_page_and_the_list_are_those_of_the_commands(
    path: Path, made: Callable[[], str]
) -> None:
    """UPDATE_GOLDEN=1 makes them anew."""
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(made(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == made()


@pytest.mark.parametrize(
    "words",
    [("--version",), ("--help",), ("help",), ("help", "--commands"), ("completions", "bash")],
)
def test_what_quizlog_says_of_itself_needs_no_engine(words: tuple[str, ...]) -> None:
    code = (
        "import re, sys; from quizlog_tui.cli import main\n"
        f"try: main({words!r})\nexcept SystemExit: pass\n"
        "engine = re.compile(r'quizlog_tui[.](?:record|replay|proof|session)[.](.+)')\n"
        "found = [engine.match(name) for name, of in sys.modules.items() if '__path__' not in vars(of)]\n"
        "print(*sorted(match[1] for match in found if match), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout and done.stderr == "process.spawn worker.room\n"  # with these a run begins


def test_the_man_page_can_be_read() -> None:
    if not shutil.which("man"):
        pytest.skip("there is no man here")
    call = ["man", "--warnings", "-l", str(PAGE)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if "minimized" in done.stdout:
        pytest.skip("man is a stand-in here")
    assert "quizlog fork RECORD K ANSWER" in re.sub(r".\x08", "", done.stdout)


QUIZ = 'print(input("A? "))\n'


def swapped(name: str) -> str:
    """A name with its second and third letters exchanged, as a hurried hand does."""
    return name[0] + name[2] + name[1] + name[3:]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_misspelt_command_is_told_whatever_follows(name: str, run: Run) -> None:
    wrong = swapped(name) if swapped(name) != name else name[:-1]
    said = f"quizlog: {wrong}: there is no such command or record (did you mean {name}?)\n"
    for rest in ((), ("r.yaml",), ("r.yaml", "2", "x"), ("r.yaml", "--name", "x")):
        assert run(wrong, *rest) == (2, "", said)


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
