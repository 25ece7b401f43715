"""The README names every command, option and key there is."""

from __future__ import annotations

import os
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from quizlog_tui.cli.parser import COMMANDS, parser_of, record_parser
from quizlog_tui.tui.keys.actions import ACTIONS, all_actions
from quizlog_tui.tui.keys.key_names import shown_key

README_PATH = Path(__file__).parent.parent / "README.md"
README = README_PATH.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme_and_the_help(command: str) -> None:
    assert f"quizlog {command}" in README
    assert f"quizlog {command}" in record_parser().format_help()


def test_every_option_is_in_the_readme() -> None:
    parsers = [record_parser(), *(parser_of(name) for name in COMMANDS)]
    options = {
        word for parser in parsers for word in re.findall(r"--[a-z]+", parser.format_usage())
    }
    for option in options - {"--help", "--version", "--output"}:
        assert f"{option}" in README, option


def key_table() -> str:
    """What the README says of keys: every action of every screen, with the shell's way to it."""
    rows = []
    for scope, actions in ACTIONS.items():
        rows += [f"\n**{TITLES.get(scope, scope.capitalize())}**\n"]
        rows += ["| key | does | in a shell |", "|---|---|---|"]
        for action in actions:
            keys = " ".join(f"`{shown_key(key)}`" for key in action.keys.split(","))
            shell = action.shell.replace("|", "\\|")
            rows.append(f"| {keys} | {action.help} | {shell and f'`{shell}`'} |")
    return "\n".join(rows) + "\n"


TITLES = {"app": "Everywhere", "pane": "In text", "list": "In lists"}
BEGIN, END = "<!-- keys -->\n", "<!-- end of keys -->"


def test_the_readme_has_every_key_and_its_way_in_the_shell() -> None:
    before, _, rest = README.partition(BEGIN)
    table, _, after = rest.partition(END)
    if os.environ.get("UPDATE_GOLDEN"):
        README_PATH.write_text(before + BEGIN + key_table() + END + after, encoding="utf-8")
    else:
        assert table == key_table()


def test_what_the_screens_do_a_shell_can_do() -> None:
    words = {"grep", "less", "--help"}
    for action in all_actions():
        for call in filter(None, action.shell.split(", ")):
            name = call.split()[1]
            assert name in COMMANDS or name == "RECORD" or name in words, f"{action.id}: {call}"


def test_every_verb_and_option_of_episodes_is_in_the_readme() -> None:
    usage = parser_of("episodes").format_help()
    verbs = re.findall(r"^    ([a-z]+) +[A-Z]", usage, re.M)
    assert {"build", "check", "browse", "stats", "export", "upgrade"} == set(verbs)
    for verb in verbs:
        with pytest.raises(SystemExit), redirect_stdout(StringIO()) as out:
            parser_of("episodes").parse_args([verb, "--help"])
        for option in re.findall(r"--[a-z-]+", out.getvalue()):
            assert option in README or option in ("--help", "--output"), option
