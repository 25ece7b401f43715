"""Opens the screens. The only module of the shell that loads Textual, and only when called."""

from __future__ import annotations

import sys
from argparse import Namespace

from ..errors import UsageError
from ..paths import record_path
from .grammar import Parser, command


def tui(arguments: Namespace) -> int:
    """`quizlog tui [RECORD]`."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = "in a pipe use `quizlog RECORD [ANSWER]`"
        raise UsageError("the screens need a terminal", hint=hint)
    from ..tui.app import run

    return run(record_path(arguments.record) if arguments.record else None)


def _tui() -> Parser:
    parser = command("quizlog tui", tui, "Open the screens.")
    parser.add_argument("record", nargs="?", help="a record; default: choose from a list")
    return parser


PARSERS = {"tui": _tui}
"""What makes each command's parser."""
