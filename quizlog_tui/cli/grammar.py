"""What all command grammars share: the parser class, the common options, the common arguments."""

from __future__ import annotations

import argparse
import math
import os
import re
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from ..errors import UsageError
from ..grants import NAMES
from ..record.lock import WAIT_SECONDS


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: asking the terminal would import a library at every call."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=94)


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are our one-line errors."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and exiting."""
        raise UsageError(message, hint=f"see `{self.prog} --help`")


def command(prog: str, run: Callable[[Any], int], about: str, **options: Any) -> Parser:
    """A parser whose namespace carries `run`, with the options every command has."""
    parser = Parser(
        prog=prog, description=about, allow_abbrev=False, formatter_class=_Formatter, **options
    )
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return parser


def port(text: str) -> int:
    """The type of an argument that is a port; 0 is any that is free."""
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 65535, not {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """The type of an argument that is a time."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, not {text!r}")
    return found


def _no_less_than_zero(text: str) -> float:
    return 0.0 if text == "0" else seconds(text)


def add_wait(parser: Parser) -> None:
    """The option of a command that changes a record."""
    about = f"how long to wait while others hold the record (default: {WAIT_SECONDS:g})"
    parser.add_argument(
        "--wait", metavar="SECONDS", type=_no_less_than_zero, default=WAIT_SECONDS, help=about
    )


def add_step(parser: Parser) -> None:
    """The arguments of a command that acts at a step of a record."""
    parser.add_argument("record")
    parser.add_argument("step", metavar="K", type=int)


def add_force(parser: argparse.ArgumentParser) -> None:
    """The option that lets `-o` name something that is there already."""
    parser.add_argument("--force", action="store_true", help="replace the file that -o names")


def add_allow(parser: argparse.ArgumentParser) -> None:
    """The option by which a person grants what a script asks for."""
    parser.add_argument(
        "--allow",
        metavar="NAME",
        action="append",
        choices=NAMES,
        default=[],
        help=f"let this version of the script have what it asks for: {', '.join(NAMES)}",
    )


def refuse_existing(path: Path, arguments: Namespace) -> None:
    """Raise a `UsageError` if a file, but no folder, would be replaced unforced."""
    if os.path.exists(path) and not os.path.isdir(path) and not arguments.force:
        hint = "choose another name with -o, or replace it with --force"
        raise UsageError("exists already", where=str(path), hint=hint)
