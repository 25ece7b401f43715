"""`quizlog help`: the guides, a search through them, and the grammar of all commands."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import asdict

from ...errors import UsageError
from ...guides import first_hit, guide, search, topics
from ..grammar import Parser, command
from ..json_output import emit_json

_WIDTH = 100
"""Columns of a guide on a wide terminal: longer lines are hard to read."""


def run(arguments: Namespace) -> int:
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
        emit_json({"hits": [asdict(one) for one in found]})
        return
    for one in found:
        print(f"{one.topic}: {one.heading}\n    {first_hit(one, words)}")
    if not found:
        print(f"quizlog: no guide contains all of {words!r}", file=sys.stderr)


def _list_commands(*, as_json: bool) -> None:
    from ..command_data import commands

    found = commands()
    if as_json:
        emit_json({"commands": found})
        return
    print("\n".join(f"quizlog {each['usage']:<29} {each['about']}" for each in found))


def _help() -> Parser:
    about = "Show a guide, or list the guides. `quizlog --help` lists the commands."
    parser = command("quizlog help", run, about)
    parser.add_argument("topic", nargs="?", help="the guide; without it, all guides are listed")
    parser.add_argument(
        "--search", metavar="WORDS", help="list the sections that contain all words"
    )
    parser.add_argument(
        "--commands", action="store_true", help="list the commands; --json gives the whole grammar"
    )
    return parser


PARSERS = {"help": _help}
"""The parser function of each command."""
