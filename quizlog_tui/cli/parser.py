"""Finds and parses the command of a command line; imports only the module of that command."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module

from .. import __version__
from ..errors import UsageError, did_you_mean
from ..files.paths import example_names
from .command_table import COMMANDS
from .grammar import Parser, add_allow, add_wait, command

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
    return parser.parse_words(words)


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
    entry = COMMANDS[name]
    module = import_module(f".{entry.module}", __package__)
    parsers: dict[str, Callable[[], Parser]] = module.PARSERS
    parser = parsers[name]()
    example = f"example:\n  quizlog {name} {entry.example}".rstrip()
    parser.epilog = f"{parser.epilog}\n\n{example}" if parser.epilog else example
    return parser


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
        own = f"Options of `quizlog RECORD [ANSWER]`: {'; '.join(options)}."
        codes = "; ".join(f"{code} {says}" for code, says in EXIT_CODES.items())
        more = "Every command takes --help (with an example) and --json."
        last = f"Exit codes: {codes}. {more} For a record named new: ./new"
        paragraphs = (fill(text, 100) for text in (own, last))
        return (
            "usage: quizlog COMMAND ...\n       quizlog [OPTION...] RECORD [ANSWER]\n\n"
            f"{self.description}\n\n{_command_list()}\n\n" + "\n".join(paragraphs) + "\n"
        )


def record_parser() -> Parser:
    """The parser of `quizlog [RECORD [ANSWER]]`."""
    from .record.moves import record

    about = "Replay, audit and fork multi-step quizzes."
    parser = command("quizlog", record, about, kind=_RecordParser)
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


def _command_list() -> str:
    """All commands, grouped."""
    lines = [
        ("look", "RECORD", "show the questionnaire up to the pointer"),
        ("look", "RECORD ANSWER", "answer the pending question (-- before an answer like --x)"),
        *((e.group, f"{name} {e.usage}".rstrip(), e.about) for name, e in COMMANDS.items()),
    ]
    shown, before = [], ""
    for group, usage, about in lines:
        shown.append(f"{'' if group == before else group:<11}quizlog {usage:<29} {about}")
        before = group
    return "\n".join(shown)
