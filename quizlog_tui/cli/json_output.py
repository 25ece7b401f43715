"""Writes the single JSON object of a command to stdout."""

from __future__ import annotations

from typing import Any

_emitted: list[dict[str, Any]] = []
"""The objects written so far: a later error must not write a second one."""


def emit_json(data: dict[str, Any]) -> None:
    """Write the single JSON object of a command."""
    import json

    print(json.dumps({"schema_version": 1} | data))
    _emitted.append(data)


def is_emitted() -> bool:
    """Whether this command has written its object."""
    return bool(_emitted)


def begin_command() -> None:
    """Forget what an earlier command of this process has written."""
    _emitted.clear()
