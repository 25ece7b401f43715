"""`quizlog help`: the guides."""

from __future__ import annotations

from argparse import Namespace

from ...guides import guide, topics
from ..grammar import Parser, command
from ..json_output import emit_json


def run(arguments: Namespace) -> int:
    """`quizlog help [TOPIC]`."""
    if arguments.topic is None:
        return _list_topics(as_json=arguments.json)
    text = guide(arguments.topic)
    if arguments.json:
        emit_json({"topic": arguments.topic, "text": text})
    else:
        print(text, end="")
    return 0


def _list_topics(*, as_json: bool) -> int:
    known = topics()
    if as_json:
        emit_json({"topics": known})
    else:
        width = max(map(len, known))
        print("\n".join(f"{topic:<{width}}  {title}" for topic, title in known.items()))
    return 0


def _help() -> Parser:
    about = "Show a guide, or list the guides there are. `quizlog --help` lists the commands."
    parser = command("quizlog help", run, about)
    parser.add_argument("topic", nargs="?", help="the guide; all are listed if it is left out")
    return parser


PARSERS = {"help": _help}
"""What makes each command's parser."""
