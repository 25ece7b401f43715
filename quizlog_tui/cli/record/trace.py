"""The command that shows the lines a script ran before a step, and what each changed."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ...debug.inspection import Trace
from ...replay.replayer import CHECKPOINTS
from ...text import clipped, one_line
from ..grammar import Parser, command
from ..json_output import emit_json
from .moves import one_move
from .show import narrate_warnings

_WIDTH = 60
"""Maximum width of a line of the script in the table."""
_MOST = 1000
"""Maximum characters of a line that are looked at for it."""


def trace(arguments: Namespace) -> int:
    """`quizlog trace RECORD K`."""
    with one_move(arguments, checkpoints=CHECKPOINTS) as session:
        narrate_warnings(session)
        found = session.trace(arguments.step)
        if arguments.var is not None:
            events = (one for one in found.events if arguments.var in one.changed)
            found = replace(found, events=tuple(events))
        if arguments.json:
            emit_json({"record": str(session.path), **found.to_dict()})
            return 0
        for line in _lines(found, session.source.lines, session.source.path):
            print(line)
        if found.truncated:
            print("quizlog: more lines ran; only the first 50,000 are known", file=sys.stderr)
    return 0


def _lines(found: Trace, lines: list[str], script: Path) -> Iterator[str]:
    for one in found.events:
        file = Path(one.file)
        own = file == script and 0 < one.line <= len(lines)
        text = lines[one.line - 1][:_MOST].strip() if own else f"({file.name}, {one.function})"
        shown = clipped("  " * one.depth + one_line(text), _WIDTH)
        changed = ", ".join(f"{one_line(k)} = {one_line(v)}" for k, v in one.changed.items())
        yield f"{one.line:5}  {shown:{_WIDTH}}  {changed}".rstrip()


def _trace() -> Parser:
    about = (
        "List the lines of the script that ran between the answer before step K and its question,\n"
        "in their order, with the variables that each changed; after an error, to the end.\n"
        "Lines of threads other than the asking one, and those after 50,000, are left out."
    )
    parser = command("quizlog trace", trace, about)
    parser.add_argument("record")
    parser.add_argument("step", nargs="?", type=int, metavar="K", help="default: the pointer")
    parser.add_argument("--var", metavar="NAME", help="only lines that change this variable")
    return parser


PARSERS = {"trace": _trace}
"""The parser function of each command."""
