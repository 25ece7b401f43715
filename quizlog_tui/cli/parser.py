"""The grammar of the command line. What a command does is in `commands`; here only its words."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .. import __version__
from ..errors import UsageError
from . import commands

_EPILOG = """\
commands:
  quizlog RECORD               show the questionnaire up to the pointer
  quizlog RECORD ANSWER        answer the pending question (-- before an answer like --x)
  quizlog                      open the screens
  quizlog new SCRIPT           make a record for a script
  quizlog rewind RECORD K      pointer to step K, nothing lost
  quizlog fork RECORD K ANSWER another answer at step K, on a branch of its own
  quizlog branches RECORD      list the branches
  quizlog switch RECORD NAME   make another branch the active one
  quizlog amend RECORD K ANSWER another answer at step K, later ones kept while questions agree
  quizlog bisect RECORD        the first answer that spoils the outcome
  quizlog sweep RECORD K ANSWER... what each of several answers at step K leads to
  quizlog tui [RECORD]         open the screens
  quizlog doctor               what this machine offers

`quizlog COMMAND --help` tells more. A record named like a command: ./new

exit codes: 0 done, 1 the script raised, 2 bad usage or unreadable file, 4 a limit or a lock,
130 interrupted"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: asking the terminal would import a library at every call."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=94)


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are our one-line errors."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and exiting."""
        raise UsageError(message, hint=f"see `{self.prog} --help`")


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The command to run, as a namespace with `run`.

    Raises:
        UsageError: The words make no command.
    """
    first = next((word for word in words if not word.startswith("-")), "")
    if first in _COMMANDS and "--" not in words[: words.index(first)]:
        rest = list(words)
        rest.remove(first)
        return _COMMANDS[first]().parse_args(rest)
    return _record_parser().parse_args(words)


def _parser(prog: str, run: Callable[[Any], int], about: str, **options: Any) -> _Parser:
    parser = _Parser(
        prog=prog, description=about, allow_abbrev=False, formatter_class=_Formatter, **options
    )
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return parser


def _record_parser() -> _Parser:
    about = "Replay, audit and fork a questionnaire."
    parser = _parser("quizlog", commands.record, about, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"quizlog {__version__}")
    parser.add_argument("record", nargs="?", help="the record file")
    parser.add_argument("answer", nargs="?", help="the answer to the pending question")
    parser.add_argument("--stdin", action="store_true", help="read the answer from stdin")
    parser.add_argument("--new", action="store_true", help="show only what is new")
    parser.add_argument(
        "--explain", action="store_true", help="say whether one can come back here at once"
    )
    parser.add_argument(
        "--raw", action="store_true", help="exactly the bytes a plain run would have written"
    )
    return parser


def _add_step(parser: _Parser) -> None:
    """The arguments of a command that acts at a step of a record."""
    parser.add_argument("record")
    parser.add_argument("step", metavar="K", type=int)


def _new() -> _Parser:
    parser = _parser("quizlog new", commands.new, "Make a record for a script.")
    parser.add_argument("script")
    parser.add_argument("-o", "--output", metavar="RECORD", help="default: SCRIPT with .yaml")
    parser.add_argument("--seed", type=int, help="default: a random one, which is kept")
    return parser


def _rewind() -> _Parser:
    about = "Set the pointer to step K. All answers stay; answering again steps or forks."
    parser = _parser("quizlog rewind", commands.rewind, about)
    _add_step(parser)
    return parser


def _fork() -> _Parser:
    about = "Give another answer at step K, on a new branch that becomes the active one."
    parser = _parser("quizlog fork", commands.fork, about)
    _add_step(parser)
    parser.add_argument("answer", metavar="ANSWER")
    parser.add_argument("--name", help="default: fork-1, fork-2, ...")
    return parser


def _amend() -> _Parser:
    about = (
        "Change answer K; later answers stay while their questions do. Old ones become a branch."
    )
    parser = _parser("quizlog amend", commands.amend, about)
    _add_step(parser)
    parser.add_argument("answer", metavar="ANSWER")
    return parser


def _bisect() -> _Parser:
    about = "The first answer that spoils what the best other branch reaches, by halving."
    parser = _parser("quizlog bisect", commands.bisect, about)
    parser.add_argument("record")
    return parser


def _sweep() -> _Parser:
    about = "Try several answers at step K side by side. The record stays as it is."
    parser = _parser("quizlog sweep", commands.sweep, about)
    _add_step(parser)
    parser.add_argument("answers", metavar="ANSWER", nargs="+")
    return parser


def _branches() -> _Parser:
    parser = _parser("quizlog branches", commands.branches, "List the branches of a record.")
    parser.add_argument("record")
    return parser


def _switch() -> _Parser:
    parser = _parser("quizlog switch", commands.switch, "Make another branch the active one.")
    parser.add_argument("record")
    parser.add_argument("name")
    return parser


def _tui() -> _Parser:
    parser = _parser("quizlog tui", commands.tui, "Open the screens.")
    parser.add_argument("record", nargs="?", help="a record; default: choose from a list")
    return parser


def _doctor() -> _Parser:
    return _parser("quizlog doctor", commands.doctor, "What this machine offers, and what is lost.")


_COMMANDS: dict[str, Callable[[], _Parser]] = {
    "new": _new,
    "rewind": _rewind,
    "fork": _fork,
    "branches": _branches,
    "switch": _switch,
    "amend": _amend,
    "bisect": _bisect,
    "sweep": _sweep,
    "tui": _tui,
    "doctor": _doctor,
}
COMMANDS = list(_COMMANDS)
"""The names of all commands."""
