"""Finds the command of a command line, and parses it; imports only the module of that command.

A command is declared once, in its module. The list of commands that `quizlog --help` shows is kept
in `commands.txt`, since asking each module would take twice as long; a test makes it anew.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from .. import __version__
from ..errors import UsageError, did_you_mean
from ..files.paths import example_names
from .grammar import Parser, add_allow, add_wait, command

COMMANDS = {
    "tui": "screens",
    "demo": "screens",
    "list": "library",
    "steps": "steps",
    "inspect": "inspect",
    "trace": "inspect",
    "watch": "watch",
    "find": "find",
    "feedback": "steps",
    "export": "export",
    "screenshot": "screens",
    "cast": "screens",
    "new": "moves",
    "rewind": "moves",
    "fork": "moves",
    "amend": "moves",
    "branches": "branches",
    "switch": "moves",
    "rename": "branches",
    "note": "branches",
    "delete": "branches",
    "restore": "branches",
    "diff": "compare",
    "sweep": "branches",
    "bisect": "branches",
    "coverage": "lint",
    "verify": "verify",
    "check": "check",
    "drift": "compare",
    "migrate": "compare",
    "bundle": "bundle",
    "lint": "lint",
    "solve": "solve",
    "decisions": "decisions",
    "models": "models",
    "task": "web",
    "demo-server": "web",
    "serve": "web",
    "mcp": "mcp",
    "episodes": "episodes",
    "config": "config",
    "sandbox": "sandbox",
    "doctor": "config",
    "completions": "help",
    "help": "help",
}
"""The module of each command, in the order of the help; its `PARSERS` has the command's parser."""
LIST = Path(__file__).with_name("commands.txt")
"""The list of all commands in the help, grouped, as their modules declare them."""
EXIT_CODES = {
    0: "done: the quiz waits for an answer, or has finished",
    1: "the script raised",
    2: "a wrong call, or a record or script that cannot be read or written",
    3: "a difference or a trap was found, or models do not agree",
    4: "a limit, a lock, a change by another program, or no decision",
    130: "interrupted",
}
"""What each exit code means."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line into a namespace with `run`.

    Raises:
        UsageError: The words make no command.
    """
    first = next((word for word in words if not word.startswith("-")), "")
    if first in COMMANDS and "--" not in words[: words.index(first)]:
        rest = list(words)
        rest.remove(first)
        return parser_of(first).parse_words(rest)
    parser = record_parser()
    _check_record(parser.first_argument(words))
    arguments = parser.parse_words(words)
    import_module(".moves", __package__)  # only now: --version and --help have ended
    return arguments


def _check_record(name: str) -> None:
    """Refuse what can only be a misspelt command or example: a bare word that is no file.

    Raises:
        UsageError: It is one.
    """
    if os.path.lexists(name) or not re.fullmatch(r"[\w-]+", name) or name in example_names():
        return
    hint = did_you_mean(name, [*COMMANDS, *example_names()]) or "`quizlog --help` lists them"
    raise UsageError("there is no such command or record", where=name, hint=hint)


def parser_of(name: str) -> Parser:
    """The parser of a command."""
    module = import_module(f".{COMMANDS[name]}", __package__)
    parsers: dict[str, Callable[[], Parser]] = module.PARSERS
    return parsers[name]()


def _run_record(arguments: argparse.Namespace) -> int:
    """`quizlog [RECORD [ANSWER]]`."""
    from .moves import record  # which brings the engine: see `parse`

    return record(arguments)


class _RecordParser(Parser):
    """The parser of `quizlog [RECORD [ANSWER]]`, whose help lists all commands."""

    def format_help(self) -> str:
        """List all commands by purpose, then the options of this one."""
        from textwrap import fill

        general = ("--help", "--version", "--json")
        options = [
            f"{action.option_strings[-1]} ({action.help})"
            for action in self._actions
            if action.option_strings and action.option_strings[-1] not in general
        ]
        own = f"With RECORD: {'; '.join(options)}."
        codes = "; ".join(f"{code} {says}" for code, says in EXIT_CODES.items())
        more = "Every command takes --help (with an example) and --json."
        last = f"Exit codes: {codes}. {more} For a record named new: ./new"
        listed = LIST.read_text(encoding="utf-8")
        paragraphs = (fill(text, 104) for text in (own, last))
        return (
            "usage: quizlog COMMAND ...   or   quizlog [OPTION...] RECORD [ANSWER]\n"
            f"{self.description}\n\n{listed}\n" + "\n".join(paragraphs) + "\n"
        )


def record_parser() -> Parser:
    """The parser of `quizlog [RECORD [ANSWER]]`."""
    parser = command(
        "",
        _run_record,
        group="move",
        arguments="RECORD [ANSWER]",
        about="show the questionnaire, or answer its pending question",
        details="Replay, audit and fork multi-step quizzes.",
        example="adventure",
        kind=_RecordParser,
    )
    parser.add_argument("--version", action="version", version=f"quizlog {__version__}")
    parser.add_argument("record", nargs="?", help="the record file")
    parser.add_argument("answer", nargs="?", help="the answer to the pending question")
    parser.add_argument("--stdin", action="store_true", help="read the answer from stdin")
    parser.add_argument("--new", action="store_true", help="show only what is new")
    parser.add_argument(
        "--explain", action="store_true", help="say whether returning to this step is instant"
    )
    parser.add_argument(
        "--keep-files", metavar="DIR", help="copy the files that the script writes to DIR"
    )
    parser.add_argument("--stderr", action="store_true", help="also show the script's stderr")
    parser.add_argument("--raw", action="store_true", help="write exactly the bytes of a plain run")
    add_allow(parser)
    add_wait(parser)
    return parser
