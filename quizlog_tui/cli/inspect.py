"""Commands that show what a script knows at a step (inspect), and which lines led there (trace)."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..debug.inspection import LineEvent, Trace, file_of
from ..debug.inspection_text import inspection_lines
from ..replay.replayer import CHECKPOINTS
from ..replay.script.source import Source
from ..text import clipped, one_line
from .grammar import Parser, command
from .moves import narrate_warnings, one_move
from .streams import emit_json

_CODE_WIDTH = 60
"""Maximum width of a line of the script in the table."""


def _run_inspect(arguments: Namespace) -> int:
    """`quizlog inspect RECORD [K]`."""
    with one_move(arguments, checkpoints=CHECKPOINTS) as session:
        narrate_warnings(session)
        found = session.inspect(
            arguments.step, frame=arguments.frame, expressions=arguments.expr or ()
        )
        if arguments.json:
            emit_json({"record": str(session.path), **found.to_dict()})
        else:
            for line in inspection_lines(found, arguments.frame):
                print(line)
    return 0


def _inspect() -> Parser:
    details = (
        "Show what the script knows at a step: its stack, variables, what changed since the\n"
        "question before, and the values of expressions. After an error, the last step is where\n"
        "it raised. Nothing that an expression does reaches the run or the record."
    )
    parser = command(
        "inspect",
        _run_inspect,
        group="look",
        arguments="RECORD [K]",
        about="show variables, stack and expressions at a step",
        details=details,
        example="adventure 3 --expr 'room, items'",
    )
    parser.add_argument("record")
    parser.add_argument("step", nargs="?", type=int, metavar="K", help="default: the pointer")
    parser.add_argument(
        "--frame",
        type=int,
        default=0,
        metavar="N",
        help="where expressions are evaluated; 0 is the innermost call",
    )
    parser.add_argument(
        "--expr", action="append", metavar="E", help="an expression or statement; may be repeated"
    )
    return parser


def _run_trace(arguments: Namespace) -> int:
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
        for line in _traced_lines(found, session.source):
            print(line)
        if found.truncated:
            print("quizlog: more lines ran; only the first 50,000 are known", file=sys.stderr)
    return 0


def _trace() -> Parser:
    details = (
        "List the lines of the script that ran between the answer before step K and its question,\n"
        "in their order, with the variables that each changed; after an error, to the end.\n"
        "Only lines of the thread that asked the question before are listed (of the main thread\n"
        "before the first question), and no more than 50,000. Of a change that a variable's text\n"
        "does not show, size, attributes and the 50 items at either end are compared, not what\n"
        "lies in these; of an array up to 100 kB; of a table nothing."
    )
    parser = command(
        "trace",
        _run_trace,
        group="look",
        arguments="RECORD [K]",
        about="list the lines that ran before a step",
        details=details,
        example="adventure 3",
    )
    parser.add_argument("record")
    parser.add_argument("step", nargs="?", type=int, metavar="K", help="default: the pointer")
    parser.add_argument("--var", metavar="NAME", help="only lines that change this variable")
    return parser


def _traced_lines(found: Trace, source: Source) -> Iterator[str]:
    files = {name: file_of(name, source) for name in {one.file for one in found.events}}
    for one in found.events:
        text = _code(one, files[one.file], source)
        shown = clipped("  " * one.depth + one_line(text), _CODE_WIDTH)
        changed = ", ".join(f"{one_line(k)} = {one_line(v)}" for k, v in one.changed.items())
        yield f"{one.line:5}  {shown:{_CODE_WIDTH}}  {changed}".rstrip()


def _code(event: LineEvent, file: Source | None, script: Source) -> str:
    """The text of a line, after the name of its file if that is not the script."""
    text = event.text_in(file)
    if not text:
        return event.place
    return text if file is script else f"{Path(event.file).name}: {text}"


PARSERS = {"inspect": _inspect, "trace": _trace}
"""The parser function of each command."""
