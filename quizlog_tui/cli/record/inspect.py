"""The command that shows what a script knows at a step: stack, variables, expressions."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from ...debug.inspection import Evaluation, Inspection, StackFrame, Variable, VariableChanges
from ...replay.replayer import CHECKPOINTS
from ...text import one_line, visible
from ..grammar import Parser, command
from ..json_output import emit_json
from .moves import one_move
from .show import narrate_warnings


def inspect(arguments: Namespace) -> int:
    """`quizlog inspect RECORD [K]`."""
    with one_move(arguments, checkpoints=CHECKPOINTS) as session:
        narrate_warnings(session)
        found = session.inspect(
            arguments.step, frame=arguments.frame, expressions=arguments.expr or ()
        )
        if arguments.json:
            emit_json({"record": str(session.path), **found.to_dict()})
        else:
            for line in _lines(found, arguments.frame):
                print(line)
    return 0


_AT = {"question": "at its question", "error": "where it raised", "end": "at its end"}


def _lines(found: Inspection, chosen: int) -> Iterator[str]:
    yield f"step {found.step}, {_AT[found.at]}"
    for number, frame in enumerate(found.frames):
        yield from _frame(number, frame, chosen)
    yield from _group("variables of the module", found.globals)
    yield from _changed(found.changed)
    for each in found.expressions:
        yield from _evaluated(each)


def _frame(number: int, frame: StackFrame, chosen: int) -> Iterator[str]:
    if frame.folded:
        yield f"     {frame.folded} in libraries"
    mark = ">" if number == chosen else " "
    place = f"{one_line(frame.function)}, {one_line(frame.file)}:{frame.line}"
    yield f"{mark} {number}  {place}"
    if frame.text:
        yield f"     {one_line(frame.text)}"
    for variable in frame.variables:
        yield f"       {_variable(variable)}"


def _group(title: str, variables: tuple[Variable, ...]) -> Iterator[str]:
    if variables:
        yield title
    for variable in variables:
        yield f"  {_variable(variable)}"


def _variable(variable: Variable) -> str:
    name = f"{one_line(variable.name)} = " if variable.name else ""
    return f"{name}{one_line(variable.text)}  ({one_line(_kind(variable))})"


def _kind(variable: Variable) -> str:
    if variable.shape is not None:
        return f"{variable.type} {' x '.join(map(str, variable.shape))}"
    return variable.type if variable.size is None else f"{variable.type} of {variable.size}"


def _changed(changes: VariableChanges) -> Iterator[str]:
    if changes.added or changes.changed or changes.gone:
        yield "since the question before"
    for name in changes.added:
        yield f"  + {one_line(name)}"
    for each in changes.changed:
        yield f"  ~ {one_line(each.name)}: {one_line(each.before)} -> {one_line(each.after)}"
    for name in changes.gone:
        yield f"  - {one_line(name)}"


def _evaluated(found: Evaluation) -> Iterator[str]:
    yield f">>> {one_line(found.text)}"
    yield from (f"  | {line}" for line in visible(found.stdout).splitlines())
    if found.error is not None:
        yield f"{one_line(found.error.message)}"
    elif found.value is not None:
        yield _variable(found.value)


def _inspect() -> Parser:
    about = (
        "Show what the script knows at a step: its stack, variables, what changed since the\n"
        "question before, and the values of expressions. After an error, the last step is where\n"
        "it raised. Nothing that an expression does reaches the run or the record."
    )
    parser = command("quizlog inspect", inspect, about)
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


PARSERS = {"inspect": _inspect}
"""The parser function of each command."""
