"""The one JSON object that a command writes to stdout."""

from __future__ import annotations

from typing import Any

_emitted: list[dict[str, Any]] = []
"""What this command has written: an error that comes later is no second object."""


def emit_json(data: dict[str, Any]) -> None:
    """Write the one JSON object of a command."""
    import json

    print(json.dumps({"schema_version": 1} | data))
    _emitted.append(data)


def is_emitted() -> bool:
    """Whether this command has written its object."""
    return bool(_emitted)


def begin_command() -> None:
    """Forget what an earlier command of this process has written."""
    _emitted.clear()
