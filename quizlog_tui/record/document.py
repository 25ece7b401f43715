"""A record as the mapping that is written to its file, keys in the trace format's order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .model import MAIN, Branch, LastError, Record
from .validate import record_from
from .yaml_text import dump_json, dump_yaml, parse


def to_mapping(record: Record) -> dict[str, Any]:
    """The record's fields; optional ones only where they say something."""
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
        "branch": record.branch if record.branch != MAIN else None,
        "branches": _branches(record) or None,
    }
    return {key: value for key, value in data.items() if value is not None} | dict(record.extras)


def error_mapping(error: LastError) -> dict[str, Any]:
    """`last_error` as the trace format writes it."""
    data = {"message": error.message, "line": error.line, "score": error.score}
    return {key: value for key, value in data.items() if value is not None} | dict(error.extras)


def _branches(record: Record) -> dict[str, Any]:
    """All entries; the active branch's answers stand in `inputs` and are not repeated."""
    data = {name: _branch(entry) for name, entry in record.branches.items()}
    if record.branch in data:
        del data[record.branch]["inputs"]
    return data


def _branch(branch: Branch) -> dict[str, Any]:
    data = {
        "parent": branch.parent,
        "at": branch.at,
        "inputs": branch.inputs,
        "status": branch.status,
        "score": branch.score,
        "created": branch.created,
        "note": branch.note,
    }
    return {key: value for key, value in data.items() if value is not None} | dict(branch.extras)


def to_text(data: Mapping[str, Any], path: Path) -> str:
    """The text of a file: JSON for a name that ends in `.json`, else YAML."""
    return dump_json(data) if path.suffix == ".json" else dump_yaml(data)


def from_text(text: str, where: str) -> Record:
    """Read a record.

    Raises:
        RecordError: The text is no YAML or JSON, or no record.
    """
    data, lines = parse(text, where)
    return record_from(data, where, lines)
