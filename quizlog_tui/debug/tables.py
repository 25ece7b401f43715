"""Shows a value as a table, inside its process, where its items have rows and columns.

Sent to the quiz process as text, between those of `values` and `inside`; imports as told there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # the text of `values` is run before this one, in the same names
    from typing import Any

    from .values import LARGEST, array_form, bounded, cell_of, is_plain, kind_of, shape_of

MOST_COLUMNS = 20
MOST_ROWS = 50
MOST_CELL = 40
"""Maximum characters of a cell."""


def table_of(value: Any) -> dict[str, Any] | None:
    """Columns and rows of a value, and how many more it has; None if it has no such form."""
    form, kind = array_form(value), type(value)
    if form:
        found = bounded(lambda: _ARRAYS[form](value), lambda _: None)
    elif kind is list or kind is tuple:
        found = _table_of_items(value)
    else:
        found = None
    if found is None:
        return None
    columns, rows = found[0][:MOST_COLUMNS], found[1][:MOST_ROWS]
    height, width = _size_of_table(value, form)
    return {
        "columns": list(map(_cell, columns)),
        "rows": [list(map(_cell, row[:MOST_COLUMNS])) for row in rows],
        "more": min(max(height - len(rows), 0), LARGEST),
        "more_columns": min(max(width - len(columns), 0), LARGEST),
    }


def _size_of_table(value: Any, form: str) -> tuple[int, int]:
    """How many rows and columns there are."""
    if not form:
        return len(value), len(value[0])
    shape = shape_of(value) or [0]
    if form == "Series":
        return shape[0], 2
    return shape[0], shape[-1] + (form == "DataFrame")  # whose index is a column


def _cell(value: Any) -> str:
    text = cell_of(value)
    return text if len(text) <= MOST_CELL else text[: MOST_CELL - 1] + "…"


def _table_of_items(value: Any) -> tuple[list[Any], list[list[Any]]] | None:
    """Of dictionaries with the same keys, or of lists of plain values that are equally long."""
    rows = value[:MOST_ROWS]
    kinds = set(map(kind_of, rows))
    if kinds == {dict}:
        return _table_of_dicts(rows)
    if kinds in ({list}, {tuple}):
        return _table_of_lists(rows)
    return None


def _table_of_dicts(rows: list[dict[str, Any]]) -> tuple[list[Any], list[list[Any]]] | None:
    columns = list(rows[0])[:MOST_COLUMNS]
    for row in rows:
        if len(row) != len(rows[0]) or any(type(name) is not str for name in row):
            return None
    if not columns or any(row.keys() != rows[0].keys() for row in rows):
        return None
    return columns, [[row[name] for name in columns] for row in rows]


def _table_of_lists(rows: list[list[Any]]) -> tuple[list[Any], list[list[Any]]] | None:
    width = len(rows[0])
    shown = [list(row[:MOST_COLUMNS]) for row in rows]
    if not width or any(len(row) != width for row in rows):
        return None
    if not all(is_plain(one) for row in shown for one in row):
        return None
    return list(range(len(shown[0]))), shown


def _table_of_array(value: Any) -> tuple[list[Any], list[list[Any]]] | None:
    if value.ndim != 2 or not value.shape[1]:
        return None
    shown = value[:MOST_ROWS, :MOST_COLUMNS]
    return list(range(shown.shape[1])), [list(row) for row in shown]


def _table_of_frame(value: Any) -> tuple[list[Any], list[list[Any]]]:
    """The index is the first column."""
    shown = value.iloc[:MOST_ROWS, : MOST_COLUMNS - 1]
    parts = [list(shown.index), *(list(shown.iloc[:, at]) for at in range(shown.shape[1]))]
    rows = [[part[at] for part in parts] for at in range(len(shown))]
    return ["", *shown.columns], rows


def _table_of_series(value: Any) -> tuple[list[Any], list[list[Any]]]:
    shown = value.iloc[:MOST_ROWS]
    labels, items = list(shown.index), list(shown)
    rows = [[labels[at], items[at]] for at in range(len(items))]
    return ["", "" if value.name is None else value.name], rows


_ARRAYS: dict[str, Any] = {
    "ndarray": _table_of_array,
    "DataFrame": _table_of_frame,
    "Series": _table_of_series,
}
