"""The README names every command, option and key there is."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from quizlog_tui.cli.parser import COMMANDS, parser_of, record_parser
from quizlog_tui.tui.screens.player import PlayerScreen

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


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


def test_every_verb_and_option_of_episodes_is_in_the_readme() -> None:
    usage = parser_of("episodes").format_help()
    verbs = re.findall(r"^    ([a-z]+) +[A-Z]", usage, re.M)
    assert {"build", "check", "stats", "export", "upgrade"} == set(verbs)
    for verb in verbs:
        with pytest.raises(SystemExit), redirect_stdout(StringIO()) as out:
            parser_of("episodes").parse_args([verb, "--help"])
        for option in re.findall(r"--[a-z-]+", out.getvalue()):
            assert option in README or option in ("--help", "--output"), option


def test_every_key_of_the_player_is_in_the_readme() -> None:
    for binding in PlayerScreen.BINDINGS:
        key = getattr(binding, "key_display", None) or binding.key.split(",")[0]  # type: ignore[union-attr]
        assert f"`{key}`" in README or key == "esc", key
