"""The whole grammar as data, for agents, the tables in the guides and the man page."""

from __future__ import annotations

import argparse
from typing import Any

from .command_table import COMMANDS, CommandEntry
from .parser import parser_of, record_parser

_RECORD = CommandEntry(
    "move", "", "RECORD [ANSWER]", "show the questionnaire, or answer its pending question", ""
)


def commands() -> list[dict[str, Any]]:
    """Every command: name, group, usage, about, example, arguments, options and verbs."""
    own = _described("", _RECORD, record_parser()) | {"example": "quizlog adventure"}
    return [own, *(_described(name, entry, parser_of(name)) for name, entry in COMMANDS.items())]


def _described(name: str, entry: CommandEntry, parser: argparse.ArgumentParser) -> dict[str, Any]:
    return {
        "name": name,
        "group": entry.group,
        "usage": f"{name} {entry.usage}".strip(),
        "about": entry.about,
        "example": f"quizlog {name} {entry.example}".rstrip(),
        **_words(parser),
        "verbs": [
            {"name": verb, "about": of_verb.description or "", **_words(of_verb)}
            for verb, of_verb in _verbs(parser).items()
        ],
    }


def _words(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """The arguments and options of a parser."""
    named = [
        action
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction) and action.help != argparse.SUPPRESS
    ]
    return {
        "arguments": [_argument(action) for action in named if not action.option_strings],
        "options": [
            {"flags": list(action.option_strings), "metavar": _value(action), "help": _help(action)}
            for action in named
            if action.option_strings
        ],
    }


def _argument(action: argparse.Action) -> dict[str, Any]:
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    required = action.nargs not in ("?", "*")
    return {"name": name, "required": required, "many": action.nargs in ("*", "+")} | {
        "choices": [str(choice) for choice in action.choices or ()],
        "help": _help(action),
    }


def _value(action: argparse.Action) -> str:
    """The placeholder of the option's value; empty if it takes none."""
    if action.nargs == 0:
        return ""
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()


def _help(action: argparse.Action) -> str:
    return " ".join((action.help or "").split())


def _verbs(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}
