"""How a command is declared: its parser, and the options and arguments that commands share."""

from __future__ import annotations

import argparse
import math
import os
import re
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ..errors import UsageError, did_you_mean
from ..record import WAIT_SECONDS
from ..replay.script import NAMES


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width; measuring the terminal would import a library at every call."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=94)


class CommandEntry(NamedTuple):
    """A command in the lists of commands: the help, the guides, the man page."""

    name: str = ""
    group: str = ""
    arguments: str = ""
    about: str = ""
    example: str = ""

    @property
    def usage(self) -> str:
        """Its name and arguments."""
        return f"{self.name} {self.arguments}".strip()

    @property
    def call(self) -> str:
        """The example as one types it."""
        return " ".join(filter(None, ["quizlog", self.name, self.example]))


class Parser(argparse.ArgumentParser):
    """An argument parser that reports errors as `UsageError`."""

    entry = CommandEntry()
    """What the lists say of the command; empty for a verb of one."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and exiting."""
        raise UsageError(message.replace(_MASK, ""), hint=self._help_hint)

    @property
    def _help_hint(self) -> str:
        return f"see `{self.prog} --help`"

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """Add an argument, in capitals as in the usage, or an option.

        `argparse` would also ask for an argument that may be left out since it may be repeated.
        """
        action = super().add_argument(*names, **options)
        if not action.option_strings:
            action.metavar = action.metavar or action.dest.upper()
            action.required = action.nargs not in ("?", "*")
        return action

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices, and name the one it is like."""
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            said = argparse.ArgumentError(action, f"invalid choice: {value!r}")
            hint = f"{did_you_mean(str(value), choices)} choose from: {', '.join(choices)}"
            raise UsageError(str(said).replace(_MASK, ""), hint=hint.lstrip())

    def first_argument(self, words: Sequence[str]) -> str:
        """The first word before `--` that is no option and no option's value; "" if none is."""
        rest = iter(split_options(words)[0])
        for word in rest:
            if not word.startswith("-"):
                return word
            action = self._option_string_actions.get(word)
            if action is not None and action.nargs is None:
                next(rest, None)
        return ""

    def _check_options(self, words: Sequence[str]) -> None:
        """Refuse the first word that can only be an option and is none, and name what it is like.

        `argparse` would first ask for the arguments that it takes for missing then.
        """
        known = self._options_with(words)
        for word in words:
            name = word.partition("=")[0]
            is_one = name in known or (word[1:2] != "-" and word[:2] in known)
            if len(word) > 1 and _may_be_option(word) and " " not in word and not is_one:
                hint = f"{did_you_mean(name, known)} {self._help_hint}".lstrip()
                raise UsageError(f"there is no option {name}", hint=hint)

    def _options_with(self, words: Sequence[str]) -> set[str]:
        """The options that may stand among words, those of the verb among them included."""
        verbs = self._subparsers._group_actions[0].choices if self._subparsers else None
        named = [parser for verb, parser in dict(verbs or {}).items() if verb in words]
        return {option for one in (self, *named) for option in one._option_string_actions}

    def parse_words(self, words: Sequence[str]) -> Namespace:
        """Parse the words of a command. Options may be anywhere before `--`.

        Everything after the first `--` is an argument, even another `--`.
        """
        options, rest = split_options(words)
        self._check_options(options)
        if self._subparsers is not None:
            return self.parse_args(words)
        masks = {f"{_MASK}{word}": word for word in rest if _may_be_option(word)}
        plain = [f"{_MASK}{word}" if _may_be_option(word) else word for word in rest]
        found = vars(self.parse_intermixed_args([*options, *plain]))
        return Namespace(**{name: _unmasked(value, masks) for name, value in found.items()})


def split_options(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The words that may be options, and those after the first `--`."""
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1 :]


_MASK = "\0"
"""Prefix of a word that looks like an option but is an argument; no shell can pass it."""


def _may_be_option(word: str) -> bool:
    return word.startswith("-") and not re.fullmatch(r"-\d+|-\d*\.\d+", word)


def _unmasked(value: Any, masks: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_unmasked(one, masks) for one in value]
    return masks.get(value, value) if isinstance(value, str) else value


def command(
    name: str,
    run: Callable[[Any], int],
    *,
    group: str,
    arguments: str = "",
    about: str,
    details: str,
    example: str = "",
    epilog: str = "",
    kind: type[Parser] = Parser,
) -> Parser:
    """Declare a command; its parser, with the options of every command.

    Args:
        name: Its name; "" is `quizlog [RECORD [ANSWER]]`.
        run: What it does; returns the exit code.
        group: Its group in the lists of commands.
        arguments: Its arguments, as the lists show them.
        about: What it does, in one line of the lists.
        details: What it does, as its own help says.
        example: A call that works with the shipped examples, after the command's name.
        epilog: What its own help says after the options.
        kind: The class of the parser.
    """
    entry = CommandEntry(name, group, arguments, about, example)
    parser = kind(
        prog=f"quizlog {name}".rstrip(),
        description=details,
        epilog="\n\n".join(filter(None, [epilog, f"example:\n  {entry.call}"])),
        allow_abbrev=False,
        formatter_class=_Formatter,
    )
    parser.entry = entry
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return parser


def port(text: str) -> int:
    """Argument type: a port; 0 means any free port."""
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 65535, not {text!r}")
    return int(text)


TOKEN = "QUIZLOG_TOKEN"
"""The environment variable with the secret that clients of a server must send."""
SERVER_PORT = 8642
"""The port of a server, unless another is named."""


def add_address(parser: Parser) -> None:
    """Add the options of a command that listens."""
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    about = f"default: {SERVER_PORT}; 0: any free"
    parser.add_argument("--port", type=port, default=SERVER_PORT, help=about)


def seconds(text: str) -> float:
    """Argument type: a time in seconds."""
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
    """Add the option of a command that changes a record."""
    about = f"how long to wait while another program holds the record (default: {WAIT_SECONDS:g})"
    parser.add_argument(
        "--wait", metavar="SECONDS", type=_no_less_than_zero, default=WAIT_SECONDS, help=about
    )


def add_models(parser: Parser) -> None:
    """Add the option of a command that asks models."""
    parser.add_argument("--models", metavar="FILE", help="default: models.yaml in your settings")


def add_replies(parser: Parser) -> None:
    """Add the option of a command that can use recorded replies instead of models."""
    parser.add_argument("--replay", metavar="FOLDER", help="use the replies recorded in FOLDER")


def add_unsafe_local(parser: Parser) -> None:
    """Add the option of a command that runs the models' code."""
    parser.add_argument(
        "--unsafe-local",
        action="store_true",
        help="run the models' code even without isolation",
    )


def add_step(parser: Parser) -> None:
    """Add the arguments of a command that acts on a step of a record."""
    parser.add_argument("record")
    parser.add_argument("step", metavar="K", type=int)


def add_by(parser: Parser, about: str) -> None:
    """Add the option that leaves only what one giver answered."""
    parser.add_argument("--by", metavar="WHO", help=f"{about}, such as agent or http")


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option that allows `-o` to replace a file."""
    parser.add_argument("--force", action="store_true", help="replace the output file if it exists")


def add_redact(parser: Parser) -> None:
    """Add the option of a command that makes a file for others."""
    about = "remove what names this machine or looks like a secret"
    parser.add_argument("--redact", action="store_true", help=about)


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Add the option that grants what a script asks for."""
    about = "grant the script, with all that lies beside it now, what it asks for"
    parser.add_argument(
        "--allow",
        metavar="NAME",
        action="append",
        choices=NAMES,
        default=[],
        help=f"{about}: {', '.join(NAMES)}",
    )


def refuse_existing(path: Path, arguments: Namespace) -> None:
    """Raise a `UsageError` if a file would be replaced without --force."""
    if os.path.islink(path):
        hint = "choose another name with -o, or remove it"
        raise UsageError("is a link: it is not followed", where=str(path), hint=hint)
    if os.path.exists(path) and not os.path.isdir(path) and not arguments.force:
        hint = "choose another name with -o, or replace it with --force"
        raise UsageError("exists already", where=str(path), hint=hint)


def screen_size(text: str) -> tuple[int, int]:
    """Columns and rows, as an option names them."""
    columns, mark, rows = text.partition("x")
    if not (mark and columns.isdecimal() and rows.isdecimal() and int(columns) and int(rows)):
        raise UsageError(f"{text!r} is not a size", hint="columns x rows, such as 80x24")
    return min(int(columns), 1000), min(int(rows), 1000)
