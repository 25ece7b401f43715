"""Draws what a script knows at a step: its exception, its calls and their variables.

Each row says in which call it stands, and which value it can open. Pure; uses no widgets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ...debug.inspection import (
    ChangedVariable,
    Evaluation,
    Inspection,
    OpenedValue,
    RaisedError,
    StackFrame,
    ValuePath,
    ValueTable,
    Variable,
)
from ...debug.marks import CHANGED_INSIDE
from ...terminal_text import plain_lines
from ...text import one_line, plural, visible
from ..widgets.columns import fitted, widest
from ..widgets.documents import Line, line

_INDENT = 2
"""Cells that what is inside a value or a call is moved to the right."""
_MODULE = "<module>"
"""What Python calls the code of a module."""
_WIDEST = 24
"""Maximum cells of a column of a table."""
_RELATIONS = {"cause": "caused by", "context": "while handling"}


@dataclass(frozen=True)
class ValueRow:
    """A row of the variables."""

    line: Line
    frame: int = 0
    """The call in which expressions are evaluated while the cursor is here."""
    path: ValuePath | None = None
    """The value in the row; None for a row without."""
    opens: bool = False
    """Whether the value has something inside."""


def variable_rows(found: Inspection, frame: int) -> list[ValueRow]:
    """The rows of what a script knows: first the last expression, then the calls, innermost first.

    Args:
        found: What it knows, with the values that are open.
        frame: The call in which the expression was evaluated.
    """
    drawing = _Drawing({one.path: one for one in found.opened}, _marks(found))
    rows = [row for one in found.expressions for row in drawing.evaluated(one, frame)]
    if found.error is not None:
        rows += map(ValueRow, error_lines(found.error))
    for number, call in enumerate(found.frames):
        rows += drawing.call(number, call)
    outermost = max(0, len(found.frames) - 1)
    if not found.frames or found.frames[-1].function != _MODULE:
        rows.append(ValueRow(line(("module", "head"), cut=True), outermost))
    rows += drawing.variables(found.globals, found.more_globals, None, outermost)
    gone = found.changed.gone
    rows += [ValueRow(line((f"- {one_line(name)} is gone", "dim"), cut=True)) for name in gone]
    return rows


def error_lines(error: RaisedError, level: int = 0, relation: str = "✗") -> Iterator[Line]:
    """An exception with its notes, and below it what led to it or what it groups.

    Args:
        error: The exception.
        level: How far it is moved to the right.
        relation: What it is to the one above.
    """
    indent = " " * _INDENT * level
    message = f": {visible(error.message)}" if error.message else ""
    yield line((f"{indent}{relation} {one_line(error.type)}{message}", "error"))
    if error.place:
        place = one_line(error.place.rpartition("/")[2])
        yield line((f"{indent}  {place}", "dim"), cut=True)
    for note in error.notes:
        yield line((f"{indent}  note: {visible(note)}", "warn"))
    for each in error.group:
        yield from error_lines(each, level + 1)
    if error.cause is not None:
        yield from error_lines(error.cause, level + 1, _RELATIONS[error.relation or "context"])


def _marks(found: Inspection) -> dict[ValuePath, str]:
    """The variables that are new, with an empty text, and those that changed, with how."""
    changes = found.changed
    new = {ValuePath(one.frame, one.name): "" for one in changes.new}
    return new | {ValuePath(one.frame, one.name): _change(one) for one in changes.changed}


def _change(one: ChangedVariable) -> str:
    """What a variable was before; where that shows no difference, how it has changed."""
    inside = one.after.endswith(CHANGED_INSIDE)
    return one_line(one.after if inside else f"was {one.before}")


@dataclass(frozen=True)
class _Drawing:
    """What the rows are drawn from."""

    opened: Mapping[ValuePath, OpenedValue]
    marks: Mapping[ValuePath, str]
    """How each variable that is another than at the question before has changed."""

    def evaluated(self, one: Evaluation, frame: int) -> Iterator[ValueRow]:
        asked = line((f">>> {one_line(one.text)}", "prompt"), cut=True)
        yield ValueRow(asked, frame)
        for text in plain_lines(one.stdout):
            yield ValueRow(line((f"  {text}", ""), cut=True), frame)
        if one.error is not None:
            at = f" (line {one.error.line})" if one.error.line and "\n" in one.text else ""
            yield ValueRow(line((f"  ✗ {visible(one.error.message)}{at}", "error")), frame)
        elif one.value is not None:
            path = ValuePath(frame, one.text)
            yield from self._value(one.value, path, frame, 0)
        elif not one.stdout:
            yield ValueRow(line(("  done", "dim"), cut=True), frame)

    def call(self, number: int, frame: StackFrame) -> Iterator[ValueRow]:
        """A call, with the calls inside it that are left out, and its variables."""
        inside = [plural(frame.folded, "call") + " in libraries"] if frame.folded else []
        inside += [plural(frame.skipped, "call") + " left out"] if frame.skipped else []
        if inside:
            yield ValueRow(line((f"  {', '.join(inside)}", "dim"), cut=True), number)
        name = "module" if frame.function == _MODULE else f"{one_line(frame.function)}()"
        file = one_line(frame.file.rpartition("/")[2])
        place = f"  {file}:{frame.line}"
        yield ValueRow(line((name, "head"), (place, "dim"), cut=True), number)
        yield from self.variables(frame.variables, frame.more, number, number)

    def variables(
        self, variables: tuple[Variable, ...], more: int, frame: int | None, at: int
    ) -> Iterator[ValueRow]:
        """The variables of a call: first those that are new or have changed."""
        paths = {ValuePath(frame, variable.name): variable for variable in variables}
        for path in sorted(paths, key=lambda path: path not in self.marks):
            yield from self._variable(paths[path], path, at)
        if more:
            yield ValueRow(
                line((f"    … and {plural(more, 'more variable')}", "dim"), cut=True), at
            )

    def _variable(self, variable: Variable, path: ValuePath, at: int) -> Iterator[ValueRow]:
        change = self.marks.get(path)
        mark = " " if change is None else "~" if change else "+"
        rows = self._value(variable, path, at, 0, mark)
        yield next(rows)
        if change:
            yield ValueRow(line((f"      {change}", "dim"), cut=True), at)
        yield from rows

    def _value(
        self, variable: Variable, path: ValuePath, at: int, level: int, mark: str = " "
    ) -> Iterator[ValueRow]:
        opens = variable.children > 0
        sign = "▾" if path in self.opened else "▸" if opens else " "
        name = f"{one_line(variable.name)} = " if variable.name else ""
        style = "good" if mark == "+" else "warn" if mark == "~" else ""
        shown = line(
            (f"{mark} {' ' * _INDENT * level}{sign} ", style),
            (name, style),
            (one_line(variable.text), "code"),
            (f"  {kind_of(variable)}", "dim"),
            cut=True,
        )
        yield ValueRow(shown, at, path, opens)
        if path in self.opened:
            yield from self._inside(self.opened[path], at, level + 1)

    def _inside(self, opened: OpenedValue, at: int, level: int) -> Iterator[ValueRow]:
        indent = " " * _INDENT * (level + 1)
        if opened.error is not None:
            yield ValueRow(line((f"{indent}✗ {visible(opened.error)}", "error")), at)
        if opened.table is not None:
            for each in table_lines(opened, opened.table, indent):
                yield ValueRow(each, at)
            return
        for index, child in enumerate(opened.children):
            path = replace(opened.path, indexes=(*opened.path.indexes, index))
            yield from self._value(child, path, at, level)
        if opened.more:
            yield ValueRow(line((f"{indent}… and {opened.more:,} more", "dim"), cut=True), at)


def kind_of(variable: Variable) -> str:
    """The type of a value, and how many items it has."""
    kind = one_line(variable.type)
    if variable.shape is not None or variable.size is None:
        return kind
    return f"{kind} of {variable.size:,}"


def table_lines(opened: OpenedValue, table: ValueTable, indent: str) -> Iterator[Line]:
    """The titles and rows of a table, in columns, and how much of it is left out."""
    rows = [table.columns, *table.rows]
    widths = [min(widest(column), _WIDEST) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (fitted(text, width) for text, width in zip(row, widths, strict=True))
        yield line((indent + "  ".join(cells).rstrip(), "dim" if number == 0 else "code"), cut=True)
    counts = ((opened.more, "row"), (table.more_columns, "column"))
    more = [plural(count, f"more {what}") for count, what in counts if count]
    if more:
        yield line((f"{indent}… and {', '.join(more)}", "dim"), cut=True)
