"""One answer in full: who gave it to which question, what came of it; and whether a text is JSON.

Uses no widgets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from ...session.timeline import TimelineRow
from ...terminal_text import plain
from ...text import one_line, plural
from ..widgets.documents import Line, line

_MOST = 200_000
"""Characters of an answer that are laid out; longer ones are shown as they are."""
_FLAT = 60
"""Characters of a list or mapping that stays on one line."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')
_INNER = re.compile(r'[\[{](?:[^\[\]{}"]|"(?:[^"\\]|\\.)*")*[\]}]')
_ROWS = re.compile(r"\s*\[\s*(?:\[[^\[\]{}\"]+\]\s*,\s*)*\[[^\[\]{}\"]+\]\s*\]\s*")


def answer_lines(row: TimelineRow, given: str, outcome: Iterable[Line]) -> list[Line]:
    """An answer with its question, who gave it, and the error that followed, if one did."""
    if row.answer is None:
        return [line((f"Step {row.at} has no answer.", "dim"))]
    facts = [given, row.kind or "", plural(len(row.answer), "character")]
    shown = pretty_answer(row.answer)
    return [
        line((" · ".join(filter(None, facts)), "dim")),
        line((plain(row.question or "(no prompt)").strip(), "prompt")),
        line((shown, "answer") if shown else ("(empty)", "dim")),
        *(line((f"! {tale.says}: {tale.evidence}", "warn")) for tale in row.tales),
        *outcome,
    ]


def pretty_answer(text: str) -> str:
    """JSON with a line for each item, a matrix with its columns aligned; other texts as they are.

    Numbers, strings and keys stay exactly as they were written.
    """
    if not text.lstrip().startswith(("[", "{")) or len(text) > _MOST or not is_json(text):
        return text
    if _ROWS.fullmatch(text):
        rows = [row.split(",") for row in re.findall(r"\[([^\[\]]*)\]", text)]
        cells = [[cell.strip() for cell in row] for row in rows]
        if len({len(row) for row in cells}) == 1:
            return _aligned(cells)
    return _indented(text)


def _aligned(cells: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rows = (
        ", ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return "[[" + "],\n [".join(rows) + "]]"


def _indented(text: str) -> str:
    """JSON with a line for each item; short lists without any inside stay on one line."""
    pieces: list[str] = []
    depth, at = 0, 0
    while (token := _TOKEN.search(text, at)) is not None:
        inner = _INNER.match(text, token.start())
        if inner is not None and len(inner[0]) <= _FLAT and "\n" not in inner[0]:
            pieces.append(inner[0])
            at = inner.end()
            continue
        at = token.end()
        word = token[0]
        if word in "[{":
            depth += 1
            pieces.append(f"{word}\n{'  ' * depth}")
        elif word in "]}":
            depth -= 1
            pieces.append(f"\n{'  ' * depth}{word}")
        else:
            pieces.append({",": f",\n{'  ' * depth}", ":": ": "}.get(word, word))
    return "".join(pieces)


def is_json(text: str) -> bool:
    """Whether a text is one JSON value."""
    return json_problem(text) is None


def json_problem(text: str) -> str | None:
    """Why and where a text is not valid JSON; None if it is valid."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return one_line(f"line {error.lineno}, column {error.colno}: {error.msg}")
    except (ValueError, RecursionError) as error:
        return one_line(str(error) or "nested too deep")
    return None
