"""Draws the script with syntax colours; lines with questions and scores are marked."""

from __future__ import annotations

from functools import lru_cache

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from ...replay.script.source import Source
from ..widgets.documents import Line, Table, line

_STYLES = (
    (Comment, "dim"),
    (String, "good"),
    (Number, "answer"),
    (Keyword, "head"),
    (Operator.Word, "head"),
    (Name.Builtin, "prompt"),
)


def source_table(source: Source) -> Table:
    """One item per line; item 0 is line 1."""
    lines = _coloured("\n".join(source.lines))

    def make(index: int) -> Line:
        return line((f"{index + 1:4} ", "dim"), *lines[index], cut=True)

    return Table(len(source.lines), make)


@lru_cache(maxsize=4)
def _coloured(text: str) -> list[list[tuple[str, str]]]:
    """The pieces of each line with their styles."""
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        style = next((name for token, name in _STYLES if kind[: len(token)] == token), "")
        first, *others = value.split("\n")
        lines[-1].append((first, style))
        lines += [[(other, style)] for other in others]
    wanted = text.count("\n") + 1
    return lines[:wanted] + [[] for _ in range(wanted - len(lines))]
