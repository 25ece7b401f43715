"""The lines that a script ran between two of its stops, as data, in their order.

The script shares a process with what sends them, so their form is checked here and nothing else of
it is believed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import ProtocolError
from ..replay.script.source import Source
from .inspection import file_path


@dataclass(frozen=True)
class LineEvent:
    """A line that ran."""

    file: str
    line: int
    function: str
    depth: int
    """Number of calls of the script's own around it."""
    changed: dict[str, str]
    """The variables of its call that it changed, with their texts afterwards."""


@dataclass(frozen=True)
class Trace:
    """The lines that ran after the answer before a stop."""

    step: int
    events: tuple[LineEvent, ...]
    truncated: bool
    """Whether more lines ran than these."""

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain data for JSON."""
        return {
            "step": self.step,
            "events": [asdict(one) for one in self.events],
            "truncated": self.truncated,
        }


def trace_from(text: str, step: int, source: Source) -> Trace:
    """The trace that a process sent.

    Args:
        text: What it sent.
        step: The step of the stop that it ends at.
        source: The script.

    Raises:
        ProtocolError: It has not the form of a trace.
    """
    try:
        data = json.loads(text)
        events = tuple(_event(one, source) for one in data["events"])
        return Trace(step, events, bool(data["truncated"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ProtocolError("sent no readable trace", where=str(source.path)) from error


def _event(data: Any, source: Source) -> LineEvent:
    file, line, function, depth, changed = data
    fits = type(line) is type(depth) is int and type(file) is type(function) is str
    if not fits or not all(type(text) is str for text in changed.values()):
        raise TypeError(data)
    return LineEvent(file_path(file, source), line, function, depth, dict(changed))
