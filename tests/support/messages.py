"""Messages as the worker sends them, made in one place, to be forged or spoiled by tests."""

from __future__ import annotations

import json
from typing import Any

FINISHED: list[Any] = ["finished", None, None, []]
"""The outcome of a script that has not failed."""


def step(*entries: Any, out: int = 0, err: int = 0) -> list[Any]:
    """A step that asks, in the order of the fields of `protocol.RawStep`.

    Args:
        entries: What was written since the step before.
        out: The end of what was written to stdout.
        err: The same for stderr.
    """
    return ["q", 1, [*entries], out, err, 0.1, [], ""]


def report(kind: str, *steps: list[Any]) -> list[Any]:
    """A report of steps, in the order of the fields of `protocol.WorkerReport`."""
    return [kind, [*steps], FINISHED, None, [], None]


def told(message: Any) -> bytes:
    """A message as bytes."""
    return json.dumps(message).encode()
