"""The command that lists the records below a folder without running anything."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..record.model import STATUSES
from ..record.summary import Summary, find_records, summary
from ..text import in_columns, one_line, told_apart
from .grammar import Parser, command
from .streams import emit_json

_UNREADABLE = "unreadable"

_ORDERS: dict[str, Callable[[Summary], Any]] = {
    "name": lambda found: str(found.path),
    "changed": lambda found: -found.changed,
    "score": lambda found: -1.0 if found.score is None else -found.score - 2.0,
    "steps": lambda found: -found.recorded,
}
"""By name in ascending order; by the others newest, best or longest first."""


def _records(arguments: Namespace) -> int:
    """`quizlog list [FOLDER]`."""
    folder = Path(arguments.folder)
    if not folder.is_dir():
        hint = "name the folder the records are in"
        raise UsageError("is not a folder", where=str(folder), hint=hint)
    every = map(summary, find_records(folder))
    found = [one for one in every if arguments.status in (None, one.status or _UNREADABLE)]
    found.sort(key=_ORDERS[arguments.sort])
    if arguments.json:
        emit_json({"folder": str(folder), "records": [one.to_dict(str(one.path)) for one in found]})
    elif found:
        print("\n".join(_lines(folder, found)))
    else:
        print(f"quizlog: {_none(arguments.status)} below {one_line(str(folder))}", file=sys.stderr)
    return 0


def _list() -> Parser:
    parser = command(
        "list",
        _records,
        group="look",
        arguments="[FOLDER]",
        about="list the records in a folder",
        details="List the records below a folder. Reads only their files and runs no script.",
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default=".")
    states = [*STATUSES, _UNREADABLE]
    parser.add_argument("--status", choices=states, help="only records with this status")
    parser.add_argument("--sort", choices=list(_ORDERS), default="name", help="default: name")
    return parser


def _none(status: str | None) -> str:
    return f"no record with the status {status}" if status else "no record"


def _lines(folder: Path, found: Iterable[Summary]) -> Iterator[str]:
    records = {os.path.relpath(one.path, folder): one for one in found}
    rows = [_row(name, records[path]) for path, name in told_apart(records).items()]
    heads = ("record", "status", "score", "steps", "branches", "changed", "script")
    return in_columns([heads, *rows])


def _row(name: str, found: Summary) -> tuple[str, ...]:
    steps = f"{found.used}" if found.used == found.recorded else f"{found.used}/{found.recorded}"
    known = found.problem is None
    cells = (
        name,
        found.status or _UNREADABLE,
        "" if found.score is None else f"{found.score:g}",
        steps if known else "",
        str(found.branches) if known else "",
        found.time.strftime("%Y-%m-%d %H:%M"),
        found.script or found.problem or "",
    )
    return tuple(one_line(cell) for cell in cells)


PARSERS = {"list": _list}
"""The parser function of each command."""
