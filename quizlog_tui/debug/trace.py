"""The lines that a script ran between two of its stops, as data, in their order.

The script shares a process with what sends them, so their form is checked here and nothing else of
it is believed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..replay.process.protocol import read_json
from ..replay.script.source import Source
from . import claims
from .inspection import file_path
from .lines import MOST_DEPTH, MOST_EVENTS


@dataclass(frozen=True)
class LineEvent:
    """A line that ran."""

    file: str
    line: int
    function: str
    depth: int
    """Number of calls of the script's own around it, at most 1,000."""
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
        data = read_json(text)
        events, truncated = claims.items(data["events"], MOST_EVENTS), data["truncated"]
        if type(truncated) is not bool:
            raise TypeError("it may be truncated or not")
        return Trace(step, tuple(_event(one, source) for one in events), truncated)
    except (ValueError, TypeError, KeyError) as error:
        raise claims.unreadable("trace", step, source) from error


def _event(data: Any, source: Source) -> LineEvent:
    file, line, function, depth, changed = claims.items(data, 5)
    if type(changed) is not dict:
        raise TypeError("no such changes")
    return LineEvent(
        file_path(file, source),
        claims.count(line),
        claims.name(function),
        claims.count(depth, MOST_DEPTH),
        {claims.name(name): claims.text(text) for name, text in changed.items()},
    )
