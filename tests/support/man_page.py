"""The man page and the list of commands, made from the grammar of all commands."""

from __future__ import annotations

from typing import Any

from quizlog_tui.cli.commands import COMMANDS, EXIT_CODES, parser_of
from quizlog_tui.cli.help import commands


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
