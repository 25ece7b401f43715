"""Converts a record to and from the text of its file, with the keys in the trace format's order.

What is read is checked: a fault is an error that names the field, what is wrong and what to do.
Only structure and types are checked, not whether the script exists or agrees.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from ..errors import RecordError
from . import who
from .append_only_list import AppendOnlyList
from .model import MAIN, Branch, LastError, Record, Status
from .yaml_text import dump_yaml, list_items, one_line_items, parse, parse_own


def to_text(data: Mapping[str, Any], path: Path) -> str:
    """The text for a file: JSON if its name ends in `.json`, else YAML."""
    if path.suffix == ".json":
        return json.dumps(data, indent=1, default=list) + "\n"
    return "".join(_entry(key, value) for key, value in data.items())


def from_text(text: str, where: str) -> Record:
    """Read a record from text; `where` is the file's name for messages.

    Raises:
        RecordError: The text is neither YAML nor JSON, or does not describe a record.
    """
    plain = parse_own(text)
    if plain is not None:
        with contextlib.suppress(RecordError):  # the full reader below knows line numbers
            return _record_from(plain, where)
    data, lines = parse(text, where)
    return _record_from(data, where, lines)


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


_STATUSES: dict[str, Status] = {
    "in_progress": "in_progress",
    "in-progress": "in_progress",
    "success": "success",
    "error": "error",
}

_NAMES = {
    str: "text",
    int: "a whole number",
    bool: "true/false",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    type(None): "empty",
}


class _Fields:
    """Reads one mapping: takes the known keys, keeps the rest, and reports faults.

    Args:
        data: The mapping.
        where: File name, for messages.
        lines: Line number of each value by its path, if the reader knows it.
        path: Path of this mapping in the record; empty at the top level.
        what: What the mapping is, for messages.
    """

    def __init__(self, data: Any, where: str, lines: Mapping[str, int], path: str = "") -> None:
        self.where, self.lines, self.path = where, lines, path
        if not isinstance(data, dict):
            self.fail(
                "", f"must be a mapping, is {_name(data)}", "see `quizlog help record-format`"
            )
        self.rest: dict[str, Any] = dict(data)

    def fail(self, key: str, message: str, hint: str) -> NoReturn:
        """Raise a `RecordError` about `key`."""
        path = self._path(key)
        line = self.lines.get(path)
        place = self.where if line is None else f"{self.where}:{line}"
        raise RecordError(f"{path}: {message}" if path else message, where=place, hint=hint)

    def take(self, key: str, kind: type, *, hint: str, required: bool = False) -> Any:
        """Remove and return the value of `key`, or None if absent; fail unless it is a `kind`."""
        if key not in self.rest and required:
            self.fail("", f"`{key}` is missing", hint)
        value = self.rest.pop(key, None)
        if value is None and not required:
            return None
        wrong_bool = isinstance(value, bool) and kind is not bool
        accepted = (int, float) if kind is float else kind
        if wrong_bool or not isinstance(value, accepted):
            self.fail(key, f"must be {_NAMES[kind]}, is {_name(value)}", hint)
        return value

    def texts(self, key: str) -> list[str]:
        """Take a list of strings; fail on the first other item, with the hint to quote it."""
        items: list[Any] = self.take(key, list, hint=f'write {key}: ["...", "..."]') or []
        for index, item in enumerate(items):
            if not isinstance(item, str):
                hint = f'put it in quotes: "{item}"'
                self.fail(f"{key}[{index}]", f"must be text, is {_name(item)}", hint)
        return items

    def child(self, key: str, data: Any) -> _Fields:
        """A reader for the mapping `data` at `key`."""
        return _Fields(data, self.where, self.lines, self._path(key))

    def _path(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path and key else self.path or key


def _name(value: Any) -> str:
    return _NAMES.get(type(value), type(value).__name__)


def _record_from(data: Any, where: str, lines: Mapping[str, int] | None = None) -> Record:
    """Check plain data against the trace format and make a record of it.

    Args:
        data: What the YAML or JSON text held.
        where: File name, for messages.
        lines: Line numbers of values by path, if known.

    Raises:
        RecordError: The data has a fault; the first one is named.
    """
    fields = _Fields(data, where, lines or {})
    inputs = fields.texts("inputs")
    record = Record(
        script=fields.take("script", str, required=True, hint="name the Python script"),
        seed=fields.take("seed", int, required=True, hint="write a whole number, as seed: 123456"),
        inputs=AppendOnlyList(inputs),
        pointer=_pointer(fields, len(inputs)),
        status=_status(fields, required=False) or "in_progress",
        print=AppendOnlyList(fields.texts("print")),
        last_error=_last_error(fields),
        trail=_trail(fields, len(inputs) + 1),
        args=_args(fields),
        output=fields.take("output", str, hint="name a file, or leave it out"),
        code_hash=fields.take("code_hash", str, hint="leave it out; it is written for you"),
        branch=fields.take("branch", str, hint="name one of the branches") or MAIN,
        branches=_branches_from(fields),
        extras=_extras(fields),
    )
    _check_tree(record, fields)
    return record


def _pointer(fields: _Fields, count: int) -> int:
    hint = f"write a whole number from 0 to {count}"
    pointer: int | None = fields.take("pointer", int, hint=hint)
    if pointer is None:
        return count
    if pointer < 0:
        fields.fail("pointer", f"must not be negative, is {pointer}", hint)
    if pointer > count:
        fields.fail("pointer", f"is {pointer}, past the {count} inputs", hint)
    return pointer


def _args(fields: _Fields) -> tuple[str, ...]:
    args = fields.texts("args")
    for index, text in enumerate(args):
        if "\0" in text:
            hint = "take it out: no program can be given one"
            fields.fail(f"args[{index}]", "holds a NUL character", hint)
        if any("\ud800" <= letter < "\udc80" or "\udcff" < letter <= "\udfff" for letter in text):
            hint = "take it out: no program can be given one"
            fields.fail(f"args[{index}]", "holds half of a surrogate pair", hint)
    return tuple(args)


def _trail(fields: _Fields, most: int) -> AppendOnlyList[str]:
    """The stop fingerprints, without those left over after another tool removed answers."""
    return AppendOnlyList(fields.texts("trail")).upto(most)


def _extras(fields: _Fields) -> dict[str, Any]:
    """The extensions as they are; those that a run depends on or that are drawn are checked."""
    found = dict(fields.rest)
    fields.take("start_time", str, hint='write start_time: "2025-01-01T00:00:00Z"')
    fields.texts("world")
    fields.take("who", list, hint="write who: [{at: 0, branch: main, by: person}]")
    return found


def _status(fields: _Fields, *, required: bool) -> Status | None:
    hint = "write in_progress, success or error"
    text = fields.take("status", str, hint=hint, required=required)
    if text is not None and text not in _STATUSES:
        fields.fail("status", f"unknown status {text!r}", hint)
    return _STATUSES[text] if text is not None else None


def _last_error(fields: _Fields) -> LastError | None:
    data = fields.rest.pop("last_error", None)
    if data is None:
        return None
    inner = fields.child("last_error", data)
    return LastError(
        message=inner.take("message", str, hint="write the exception's text in quotes") or "",
        line=inner.take("line", int, hint="write the script line's number"),
        score=float(inner.take("score", float, hint="write a number from 0 to 1") or 0),
        place=inner.take("place", str, hint="leave it out; it is written for you"),
        extras=inner.rest,
    )


def _branches_from(fields: _Fields) -> dict[str, Branch]:
    hint = "write branches: {name: {parent: main, at: 2, inputs: [...]}}"
    data = fields.take("branches", dict, hint=hint) or {}
    inside = fields.child("branches", data)
    return {str(name): _branch_from(inside.child(str(name), value)) for name, value in data.items()}


def _branch_from(fields: _Fields) -> Branch:
    at = fields.take("at", int, hint="write the index of the answer it forks at") or 0
    if at < 0:
        fields.fail("at", f"must not be negative, is {at}", "write an index from 0")
    inputs = AppendOnlyList(fields.texts("inputs"))
    parent = fields.take("parent", str, hint="name the branch it forks from")
    return Branch(
        parent=parent,
        at=at,
        inputs=inputs,
        trail=_trail(fields, len(inputs) + (parent is None)),
        status=_status(fields, required=False),
        score=fields.take("score", float, hint="write a number from 0 to 1"),
        created=fields.take("created", str, hint="write an ISO date in quotes"),
        note=fields.take("note", str, hint="write text in quotes"),
        deleted=fields.take("deleted", str, hint="write an ISO date in quotes, or leave it out"),
        code_hash=fields.take("code_hash", str, hint="leave it out; it is written for you"),
        extras=fields.rest,
    )


def _check_tree(record: Record, fields: _Fields) -> None:
    """Check that parents exist, no branch is its own ancestor, and fork points lie on parents."""
    roots = [name for name, branch in record.branches.items() if branch.parent is None]
    if record.branch not in record.branches and roots:
        fields.fail("branch", f"there is no branch {record.branch!r}", "name one of `branches`")
    sound: set[str] = set()
    for name in record.branches:
        _check_ancestors(record, name, fields, sound)
    for name, branch in record.branches.items():
        if branch.parent and branch.at > record.length_of(branch.parent):
            hint = "`at` is at most the number of the parent's answers"
            fields.fail(f"branches.{name}.at", f"is {branch.at}, past the end of its parent", hint)


def _check_ancestors(record: Record, name: str, fields: _Fields, sound: set[str]) -> None:
    """Check a branch's ancestors up to the first in `sound`, and add them to `sound`."""
    seen = {name}
    parent = record.branches[name].parent
    while parent is not None and parent not in sound:
        if parent in seen:
            fields.fail(f"branches.{name}", "is its own ancestor", "name another parent")
        if parent not in record.branches and parent != record.branch:
            hint = "name `main` or one of `branches`"
            fields.fail(f"branches.{name}.parent", f"there is no branch {parent!r}", hint)
        seen.add(parent)
        entry = record.branches.get(parent)
        parent = entry.parent if entry else None
    sound |= seen
