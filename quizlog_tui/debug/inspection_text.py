"""What a script knows at a step, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ..text import one_line, visible
from .inspection import (
    Evaluation,
    Inspection,
    RaisedError,
    StackFrame,
    Variable,
    VariableChanges,
)

_AT = {"question": "at its question", "error": "where it raised", "end": "at its end"}


def inspection_lines(found: Inspection, chosen: int = 0) -> Iterator[str]:
    """The stack, the variables and the values of the expressions, a line each.

    Args:
        found: What the script knows.
        chosen: The frame in which the expressions were evaluated.
    """
    yield f"step {found.step}, {_AT[found.at]}"
    if found.error is not None:
        yield from _raised(found.error)
    for number, frame in enumerate(found.frames):
        yield from _frame(number, frame, chosen)
    yield from _group("variables of the module", found.globals)
    if found.more_globals:
        yield f"  and {found.more_globals:,} more"
    yield from _changed(found.changed)
    for each in found.expressions:
        yield from _evaluated(each)


def _raised(error: RaisedError) -> Iterator[str]:
    """An exception with its notes, those that it groups, and the one that it came from."""
    text = f"{one_line(error.type)}: {one_line(error.message)}".removesuffix(": ")
    yield f"{text}  ({one_line(error.place)})" if error.place else text
    for note in error.notes:
        yield from (f"  | {line}" for line in visible(note).splitlines())
    for each in error.group:
        yield from (f"  + {line}" for line in _raised(each))
    if error.cause is not None:
        yield "raised from" if error.relation == "cause" else "raised while handling"
        yield from (f"  {line}" for line in _raised(error.cause))


def _frame(number: int, frame: StackFrame, chosen: int) -> Iterator[str]:
    if frame.skipped:
        yield f"     {frame.skipped:,} more of the script"
    if frame.folded:
        yield f"     {frame.folded} in libraries"
    mark = ">" if number == chosen else " "
    place = f"{one_line(frame.function)}, {one_line(frame.file)}:{frame.line}"
    yield f"{mark} {number}  {place}"
    if frame.text:
        yield f"     {one_line(frame.text)}"
    for variable in frame.variables:
        yield f"       {_variable(variable)}"
    if frame.more:
        yield f"       and {frame.more:,} more"


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
    for new in changes.new:
        yield f"  + {one_line(new.name)}{_of_call(new.frame)}"
    for each in changes.changed:
        how = f"{one_line(each.before)} -> {one_line(each.after)}"
        yield f"  ~ {one_line(each.name)}{_of_call(each.frame)}: {how}"
    for name in changes.gone:
        yield f"  - {one_line(name)}"


def _of_call(frame: int | None) -> str:
    return "" if frame is None else f" in call {frame}"


def _evaluated(found: Evaluation) -> Iterator[str]:
    yield f">>> {one_line(found.text)}"
    yield from (f"  | {line}" for line in visible(found.stdout).splitlines())
    if found.error is not None:
        yield f"{one_line(found.error.message)}"
    elif found.value is not None:
        yield _variable(found.value)
