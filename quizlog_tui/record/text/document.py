"""Converts a record to and from the text of its file, with the keys in the trace format's order."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import RecordError
from .. import who
from ..append_only_list import AppendOnlyList
from ..model import MAIN, Branch, LastError, Record
from .own_yaml import parse_own
from .validate import record_from
from .yaml_text import dump_json, dump_yaml, list_items, one_line_items, parse


def to_mapping(record: Record) -> dict[str, Any]:
    """The record's fields as plain data; optional fields without a value are left out."""
    data: dict[str, Any] = {
        "script": record.script,
        "output": record.output,
        "seed": record.seed,
        "status": record.status,
        "code_hash": record.code_hash,
        "inputs": record.inputs,
        "pointer": record.pointer,
        "print": record.print,
        "last_error": record.last_error and error_mapping(record.last_error),
        "trail": record.trail or None,
        "args": list(record.args) or None,
        "branch": record.branch if record.branch != MAIN else None,
        "branches": _branches(record) or None,
    }
    return {key: value for key, value in data.items() if value is not None} | dict(record.extras)


def error_mapping(error: LastError) -> dict[str, Any]:
    """`last_error` as the trace format writes it."""
    return {key: value for key, value in error.to_dict().items() if value is not None} | dict(
        error.extras
    )


def _branches(record: Record) -> dict[str, Any]:
    """All branches; the active one's answers are in `inputs` and not repeated here."""
    data = {name: _branch(entry) for name, entry in record.branches.items()}
    if record.branch in data:
        del data[record.branch]["inputs"]
    return data


def _branch(branch: Branch) -> dict[str, Any]:
    data = {
        "parent": branch.parent,
        "at": branch.at,
        "inputs": branch.inputs,
        "trail": branch.trail or None,
        "status": branch.status,
        "score": branch.score,
        "created": branch.created,
        "note": branch.note,
        "deleted": branch.deleted,
        "code_hash": branch.code_hash,
    }
    return {key: value for key, value in data.items() if value is not None} | dict(branch.extras)


class Rendering:
    """Renders a record to YAML again and again as it grows.

    What has not changed since the last time is not rendered again; long lists grow only at the end.
    """

    def __init__(self) -> None:
        self._lists: dict[str, tuple[AppendOnlyList[Any], str]] = {}
        self._branches: tuple[object, str] = (None, "")

    def text(self, record: Record) -> str:
        """The record's YAML text."""
        bare = replace(record, inputs=_NONE, print=_NONE, trail=_NONE, branches={})
        parts = []
        for key, value in to_mapping(bare).items():
            if key in ("inputs", "print"):
                parts.append(self._list(key, getattr(record, key)))
            elif isinstance(value, AppendOnlyList) and key in _ONE_LINE:
                parts.append(self._list(key, value))
            else:
                parts.append(_entry(key, value))
            if key == "print":
                parts.append(self._list("trail", record.trail) if record.trail else "")
                parts.append(self._branch_text(record))
        return "".join(parts)

    def _list(self, key: str, series: AppendOnlyList[Any]) -> str:
        known, text = self._lists.get(key, (_NONE, ""))
        if not series.continues(known):
            known, text = _NONE, ""
        items = one_line_items if key in _ONE_LINE else list_items
        text += "".join(items(series[len(known) :]))
        self._lists[key] = (series, text)
        return f"{key}:\n{text}" if series else f"{key}: []\n"

    def _branch_text(self, record: Record) -> str:
        if self._branches[0] is not record.branches:
            branches = _branches(record)
            text = dump_yaml({"branches": branches}) if branches else ""
            self._branches = (record.branches, text)
        return self._branches[1]


def _entry(key: str, value: Any) -> str:
    if key in _ONE_LINE and isinstance(value, Sequence) and not isinstance(value, str) and value:
        return f"{key}:\n{''.join(one_line_items(value))}"
    return dump_yaml({key: value})


_ONE_LINE = frozenset({who.KEY})
"""Lists with a mapping for each answer: one line each is read four times as fast as a block."""
_NONE: AppendOnlyList[str] = AppendOnlyList()


def to_text(data: Mapping[str, Any], path: Path) -> str:
    """The text for a file: JSON if its name ends in `.json`, else YAML."""
    if path.suffix == ".json":
        return dump_json(data)
    return "".join(_entry(key, value) for key, value in data.items())


def from_text(text: str, where: str) -> Record:
    """Read a record from text; `where` is the file's name for messages.

    Raises:
        RecordError: The text is neither YAML nor JSON, or does not describe a record.
    """
    plain = parse_own(text)
    if plain is not None:
        with contextlib.suppress(RecordError):  # the full reader below knows line numbers
            return record_from(plain, where)
    data, lines = parse(text, where)
    return record_from(data, where, lines)
