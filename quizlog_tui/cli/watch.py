"""The command that shows the values of expressions at every step (watch)."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence

from ..config import NEUTRAL, known_author
from ..debug.watching import Watched, WatchedValue, watched
from ..errors import UsageError
from ..session.session import Session
from ..text import clipped, one_line
from .grammar import Parser, add_wait, command
from .moves import known_config, make_move, narrate_warnings, one_move
from .streams import ProgressLine, emit_json

_WIDTH = 40
"""Maximum width of an answer, a value or an expression in the table."""


def _run_watch(arguments: Namespace) -> int:
    """`quizlog watch RECORD [EXPR...]`."""
    with one_move(arguments) as session:
        narrate_warnings(session)
        _change(session, arguments)
        changes = arguments.keep or arguments.forget
        expressions = (not changes and arguments.expr) or session.watches
        if not expressions and not arguments.forget:
            hint = "name one, as in `quizlog watch RECORD 'len(items)'`; --keep keeps it"
            raise UsageError("no expression is named, and the record keeps none", hint=hint)
        found = _walked(session, expressions)
        if arguments.json:
            emit_json({"record": str(session.path), **found.to_dict()})
        else:
            for line in _lines(found, session.record.inputs):
                print(line)
    return 0


def _watch() -> Parser:
    details = (
        "Show the values of expressions at every step of the active branch: a row a step, with\n"
        "the answer given there. Without an expression, show those that the record keeps.\n"
        "Expressions change neither the record nor what later steps show. Nothing is written but\n"
        "by --keep and --forget, which show all that are kept afterwards."
    )
    parser = command(
        "watch",
        _run_watch,
        group="look",
        arguments="RECORD [EXPR...]",
        about="show the values of expressions at every step",
        details=details,
        example="adventure room 'len(items)'",
    )
    parser.add_argument("record")
    parser.add_argument("expr", nargs="*", metavar="EXPR", help="default: those that are kept")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--keep", action="store_true", help="keep the expressions in the record")
    change.add_argument("--forget", action="store_true", help="take them out of the record")
    add_wait(parser)
    return parser


def _change(session: Session, arguments: Namespace) -> None:
    """Keep expressions, or keep them no longer, if that is asked for."""
    if (arguments.keep or arguments.forget) and not arguments.expr:
        raise UsageError("which expression?", hint="name it after the record")
    for text in arguments.expr if arguments.keep else ():
        make_move(session, session.keep_watch, text, known_author(known_config()) or NEUTRAL)
    for text in arguments.expr if arguments.forget else ():
        make_move(session, session.forget_watch, text)


def _walked(session: Session, expressions: Sequence[str]) -> Watched:
    if not expressions:
        return Watched((), ())
    progress = ProgressLine()
    try:
        return watched(
            session.stop_walk(), expressions, lambda done, of: progress("watching", done, of)
        )
    finally:
        progress.end()


def _lines(found: Watched, answers: Sequence[str]) -> Iterator[str]:
    """The expressions, and below them a row for each step."""
    rows = [["", "answer", *map(_cell, found.expressions)]] if found.steps else []
    for step in found.steps:
        answer = answers[step.step] if step.step < len(answers) else ""
        rows.append([str(step.step), _cell(answer), *map(_shown, step.values)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, *cells in rows:
        padded = (f"{cell:{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join([f"{number:>{widths[0]}}", *padded]).rstrip()


def _shown(value: WatchedValue) -> str:
    return _cell(value.text if value.error is None else f"! {value.error}")


def _cell(text: str) -> str:
    return clipped(one_line(text.strip()), _WIDTH)


PARSERS = {"watch": _watch}
"""The parser function of each command."""
