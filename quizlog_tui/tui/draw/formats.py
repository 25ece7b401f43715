"""Recognizes Markdown, JSON and CSV in an output and lays them out; colours a script. Pure.

What is recognized stays text of the script: Rich only lays it out, and nothing in it is followed.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from io import StringIO
from typing import Literal, NamedTuple

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from ...replay.script.source import Source
from ..widgets.documents import Line, Table, line, logical_lines, terminal_pieces
from .answer import pretty_answer
from .output import rule

MOST = 200_000
"""Characters of an output that are laid out."""
_TRIES = 100
"""Beginnings of JSON that are tried, so that time stays bounded."""
_ROWS = 3
"""Rows from which on lines are a table, the heads among them."""
_MARKDOWN = re.compile(r"^(#{1,6} \S|```|[-*] \S|> \S|\|.*\|\n\|[-:| ]+\|$)|\*\*\S.*?\*\*", re.M)
_STYLES = (
    (Comment, "dim"),
    (String, "good"),
    (Number, "answer"),
    (Keyword, "head"),
    (Operator.Word, "head"),
    (Name.Builtin, "prompt"),
)


class Section(NamedTuple):
    """A stretch of an output."""

    kind: Literal["Markdown", "JSON", "CSV", ""]
    """What it is; empty for any other text."""
    text: str


def sections(text: str) -> list[Section]:
    """The stretches of an output, in order; together they are all of its lines."""
    lines = text.split("\n")
    found: list[Section] = []
    other: list[str] = []
    at = tries = 0
    while at < len(lines):
        tries += lines[at].startswith(("{", "["))
        end = _json_end(lines, at) if tries <= _TRIES else at
        kind: Literal["JSON", "CSV"] = "JSON" if end > at else "CSV"
        end = end if end > at else _csv_end(lines, at)
        if end == at:
            other.append(lines[at])
            at += 1
            continue
        found += [*_other(other), Section(kind, "\n".join(lines[at:end]))]
        other, at = [], end
    return [*found, *_other(other)]


def _other(lines: Sequence[str]) -> list[Section]:
    """What is neither JSON nor CSV; nothing for blank lines."""
    text = "\n".join(lines)
    if not text.strip():
        return []
    return [Section("Markdown" if _MARKDOWN.search(text) else "", text)]


def _json_end(lines: Sequence[str], at: int) -> int:
    """The line after a list or mapping that begins at a line; the same line if none does."""
    if not lines[at].startswith(("{", "[")):
        return at
    rest = "\n".join(lines[at:])
    try:
        _, length = json.JSONDecoder().raw_decode(rest)
    except (ValueError, RecursionError):
        return at
    whole = not rest[length:].partition("\n")[0].strip()
    return at + rest.count("\n", 0, length) + 1 if whole else at


def _csv_end(lines: Sequence[str], at: int) -> int:
    """The line after a table that begins at a line; the same line if none does."""
    for delimiter in (",", ";", "\t"):
        if re.search(f"{delimiter}(?! |$)", lines[at]) is None:
            continue
        end, width = at, len(_cells(lines[at], delimiter))
        while end < len(lines) and len(_cells(lines[end], delimiter)) == width > 1:
            end += 1
        if end - at >= _ROWS:
            return end
    return at


def _cells(text: str, delimiter: str) -> list[str]:
    """The cells of a row; none if it cannot be read."""
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


def formatted_lines(found: Sequence[Section], width: int) -> list[Line]:
    """Sections of safe text, laid out for a width, each below a rule with its name."""
    lines: list[Line] = []
    for kind, text in found:
        lines.append(line((rule(kind or "text", width), "dim"), cut=True))
        drawn = terminal_pieces(_laid_out(kind, text, width), "", raw=False)
        lines += [Line(tuple(row)) for row in logical_lines(drawn)]
    return lines


def _laid_out(kind: str, text: str, width: int) -> str:
    """A section as a terminal would be sent it."""
    if kind == "JSON":
        return pretty_answer(text)  # Rich would write numbers in another way than the script
    if not kind:
        return text
    from rich.console import Console
    from rich.markdown import Markdown

    made = Markdown(text, hyperlinks=False) if kind == "Markdown" else _table(text)
    written = StringIO()
    Console(file=written, width=width, force_terminal=True, color_system="standard").print(made)
    shown = (row.rstrip() for row in written.getvalue().strip("\n").split("\n"))
    return "\n".join(shown)


def _table(text: str) -> object:
    from rich.table import Table
    from rich.text import Text

    lines = text.split("\n")
    delimiter = next(sign for sign in (",", ";", "\t") if _csv_end(lines, 0) and sign in lines[0])
    heads, *rows = (_cells(row, delimiter) for row in lines)
    made = Table()
    for head in heads:
        made.add_column(Text(head))
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def source_table(source: Source) -> Table:
    """One item per line; item 0 is line 1."""
    lines = _coloured("\n".join(source.lines))

    def make(index: int) -> Line:
        return line((f"{index + 1:4} ", "dim"), *lines[index], cut=True)

    return Table(len(source.lines), make)


@lru_cache(maxsize=4)
def _coloured(text: str) -> list[list[tuple[str, str]]]:
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        style = next((name for token, name in _STYLES if kind[: len(token)] == token), "")
        first, *others = value.split("\n")
        lines[-1].append((first, style))
        lines += [[(other, style)] for other in others]
    wanted = text.count("\n") + 1
    return lines[:wanted] + [[] for _ in range(wanted - len(lines))]
