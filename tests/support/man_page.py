"""The grammar of all commands as data, and the man page and the list that are made from it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from quizlog_tui.cli.commands import COMMANDS, EXIT_CODES, parser_of, record_parser
from quizlog_tui.cli.grammar import Parser
from quizlog_tui.cli.help import commands


def grammar() -> str:
    """What every command declares, a line for each."""
    parsers = (record_parser(), *map(parser_of, COMMANDS))
    lines = (json.dumps(_described(parser), ensure_ascii=False) for parser in parsers)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _described(parser: Parser) -> dict[str, Any]:
    entry = parser.entry
    return {
        "name": entry.name,
        "group": entry.group,
        "usage": entry.usage,
        "about": entry.about,
        "example": entry.call,
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
            {
                "flags": list(action.option_strings),
                "metavar": _value(action),
                "help": _help_of(action),
            }
            for action in named
            if action.option_strings
        ],
    }


def _argument(action: argparse.Action) -> dict[str, Any]:
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    required = action.nargs not in ("?", "*")
    return {"name": name, "required": required, "many": action.nargs in ("*", "+")} | {
        "choices": [str(choice) for choice in action.choices or ()],
        "help": _help_of(action),
    }


def _value(action: argparse.Action) -> str:
    """The placeholder of the option's value; empty if it takes none."""
    if action.nargs == 0:
        return ""
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()


def _help_of(action: argparse.Action) -> str:
    return " ".join((action.help or "").split())


def _verbs(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def man_page() -> str:
    """The text of `man quizlog`."""
    lines = ['.TH QUIZLOG 1 "" "quizlog" "User Commands"', ".SH NAME"]
    lines += ["quizlog \\- replay, audit and fork multi\\-step quizzes", ".SH SYNOPSIS"]
    lines += [".B quizlog", "[OPTION...] RECORD [ANSWER]", ".br", ".B quizlog", "COMMAND ..."]
    lines += [".SH COMMANDS"]
    for each in commands():
        lines += [".TP", f".B quizlog {_plain(each['usage'])}", _plain(each["about"]) + "."]
        for part in (each, *each["verbs"]):
            lines += _options(part, f"{part['name']}: " if part is not each else "")
        lines += [".br", f"Example: {_plain(each['example'])}"]
    lines += [".SH EXIT STATUS"]
    for code, says in EXIT_CODES.items():
        lines += [".TP", f".B {code}", _plain(says) + "."]
    lines += [".SH SEE ALSO", "quizlog help lists the guides."]
    return "\n".join(lines) + "\n"


def _options(part: dict[str, Any], before: str) -> list[str]:
    found = []
    for option in part["options"]:
        if option["flags"][-1] not in ("--help", "--json"):
            flags = f"{', '.join(option['flags'])} {option['metavar']}".rstrip()
            found += [".br", f"{before}{_plain(flags)}: {_plain(option['help'])}"]
    return found


def _plain(text: str) -> str:
    """Text without anything that has a meaning in a man page."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


def command_list() -> str:
    """All commands, grouped, as their modules declare them."""
    entries = [parser_of(name).entry for name in COMMANDS]
    lines = [
        ("look", "RECORD", "show the questionnaire up to the pointer"),
        ("look", "RECORD ANSWER", "answer the pending question (-- before an answer like --x)"),
        *((entry.group, entry.usage, entry.about) for entry in entries),
    ]
    shown, before = [], ""
    for group, usage, about in lines:
        shown.append(f"{'' if group == before else group:<11}quizlog {usage:<29} {about}")
        before = group
    return "\n".join(shown) + "\n"
