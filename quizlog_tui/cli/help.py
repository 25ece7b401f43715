"""What the command line says of itself: the guides, all commands as data, completions for shells.

The guides' tables, the man page and the completions are made from `commands`. These are kept in
`commands.json`, since shells ask for their completions when they start, and asking each module
takes six times as long; a test makes the file anew.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..guides import first_hit, guide, search, topics
from .grammar import Parser, command
from .streams import emit_json

GRAMMAR = Path(__file__).with_name("commands.json")
"""All commands, as their modules declare them."""
_WIDTH = 100
"""Columns of a guide on a wide terminal: longer lines are hard to read."""


def _show_help(arguments: Namespace) -> int:
    """`quizlog help [TOPIC]`.

    Raises:
        UsageError: There is no such topic, or more than one thing is asked for.
    """
    asked = [arguments.topic is not None, arguments.search is not None, arguments.commands]
    if sum(asked) > 1:
        raise UsageError("name a TOPIC, --search or --commands, not several")
    if arguments.commands:
        _list_commands(as_json=arguments.json)
    elif arguments.search is not None:
        _list_hits(arguments.search, as_json=arguments.json)
    elif arguments.topic is None:
        _list_topics(as_json=arguments.json)
    else:
        _show(arguments.topic, as_json=arguments.json)
    return 0


def _help() -> Parser:
    parser = command(
        "help",
        _show_help,
        group="machine",
        arguments="[TOPIC]",
        about="read or search the guides",
        details="Show a guide, or list the guides. `quizlog --help` lists the commands.",
        example="proof",
    )
    parser.add_argument("topic", nargs="?", help="the guide; without it, all guides are listed")
    parser.add_argument(
        "--search", metavar="WORDS", help="list the sections that contain all words"
    )
    parser.add_argument(
        "--commands", action="store_true", help="list the commands; --json gives the whole grammar"
    )
    return parser


def _show(topic: str, *, as_json: bool) -> None:
    text = guide(topic)
    if as_json:
        emit_json({"topic": topic, "text": text})
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _page(text)
    else:
        print(text, end="")


def _page(text: str) -> None:
    """Show a guide in the user's pager, drawn for the terminal."""
    import os

    from rich.console import Console
    from rich.markdown import Markdown

    os.environ.setdefault("LESS", "-FRX")  # less shows colours, and ends where all is in sight
    console = Console()
    with console.pager(styles=not console.no_color):
        console.print(Markdown(text, hyperlinks=False), width=min(_WIDTH, console.width))


def _list_topics(*, as_json: bool) -> None:
    known = topics()
    if as_json:
        emit_json({"topics": known})
        return
    width = max(map(len, known))
    print("\n".join(f"{topic:<{width}}  {title}" for topic, title in known.items()))


def _list_hits(words: str, *, as_json: bool) -> None:
    found = search(words)
    if as_json:
        emit_json({"hits": [one._asdict() for one in found]})
        return
    for one in found:
        print(f"{one.topic}: {one.heading}\n    {first_hit(one, words)}")
    if not found:
        print(f"quizlog: no guide contains all of {words!r}", file=sys.stderr)


def _list_commands(*, as_json: bool) -> None:
    found = commands()
    if as_json:
        emit_json({"commands": found})
        return
    print("\n".join(f"quizlog {each['usage']:<29} {each['about']}" for each in found))


def commands() -> list[dict[str, Any]]:
    """Every command: name, group, usage, about, example, arguments, options and verbs."""
    found: list[dict[str, Any]] = json.loads(GRAMMAR.read_text(encoding="utf-8"))
    return found


def _run_completions(arguments: Namespace) -> int:
    """`quizlog completions SHELL`."""
    script = _SHELLS[arguments.shell]([each for each in commands() if each["name"]])
    if arguments.json:
        emit_json({"shell": arguments.shell, "script": script})
    else:
        print(script, end="")
    return 0


def _completions() -> Parser:
    parser = command(
        "completions",
        _run_completions,
        group="machine",
        arguments="bash|zsh|fish",
        about="print a shell's completion script",
        details=(
            "Print a shell's completion script of commands and options. For bash, in ~/.bashrc:\n"
            '  eval "$(quizlog completions bash)"\n'
            "For zsh the same after compinit; for fish: quizlog completions fish | source"
        ),
        example="bash",
    )
    parser.add_argument("shell", metavar="|".join(_SHELLS), choices=list(_SHELLS))
    return parser


def _bash(found: list[dict[str, Any]]) -> str:
    cases = "\n".join(f'        {each["name"]}) words="{_words_of(each)}" ;;' for each in found)
    names = " ".join(each["name"] for each in found)
    return f"""\
_quizlog() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" words=""
    if [ "$COMP_CWORD" = 1 ]; then
        words="{names}"
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}}
complete -o filenames -F _quizlog quizlog
"""


def _zsh(found: list[dict[str, Any]]) -> str:
    names = "\n".join(f"        {_quoted(each['name'] + ':' + each['about'])}" for each in found)
    cases = "\n".join(f"        {each['name']}) compadd -- {_words_of(each)} ;;" for each in found)
    return f"""\
#compdef quizlog
_quizlog() {{
    if (( CURRENT == 2 )); then
        local -a commands=(
{names}
        )
        _describe command commands
    else
        case $words[2] in
{cases}
        esac
    fi
    _files
}}
compdef _quizlog quizlog
"""


def _fish(found: list[dict[str, Any]]) -> str:
    lines = []
    for each in found:
        name, about = each["name"], _quoted(each["about"])
        lines.append(f"complete -c quizlog -n __fish_use_subcommand -a {name} -d {about}")
        within = f"__fish_seen_subcommand_from {name}"
        lines += [f"complete -c quizlog -n '{within}' -a {verb['name']}" for verb in each["verbs"]]
        lines += _fish_options(within, each)
        for verb in each["verbs"]:
            lines += _fish_options(
                f"{within}; and __fish_seen_subcommand_from {verb['name']}", verb
            )
    return "\n".join(lines) + "\n"


def _fish_options(when: str, part: dict[str, Any]) -> Iterator[str]:
    for option in part["options"]:
        value = " -r" if option["metavar"] else ""
        flag, about = option["flags"][-1].removeprefix("--"), _quoted(option["help"])
        yield f"complete -c quizlog -n '{when}' -l {flag}{value} -d {about}"


def _words_of(each: dict[str, Any]) -> str:
    """The verbs, choices and options that may follow a command."""
    parts = [each, *each["verbs"]]
    flags = [flag for part in parts for one in part["options"] for flag in one["flags"]]
    choices = [choice for part in parts for one in part["arguments"] for choice in one["choices"]]
    return " ".join(dict.fromkeys([*(verb["name"] for verb in each["verbs"]), *choices, *flags]))


def _quoted(text: str) -> str:
    """Quote a text for a shell."""
    return "'" + text.replace("'", "’") + "'"


_SHELLS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}

PARSERS = {"help": _help, "completions": _completions}
"""The parser function of each command."""
