"""What the palette finds besides actions: steps, branches, records, themes, the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..session.timeline import Timeline
from ..terminal_text import plain
from ..text import one_line, told_apart


@dataclass(frozen=True)
class Destination:
    """Something that the palette can show."""

    label: str
    """What it is called; safe to show."""
    about: str
    """What else it is found by; safe to show."""
    go: Callable[[], Any]
    """Shows it."""


def step_destinations(moments: Timeline, go: Callable[[int], Any]) -> Iterator[Destination]:
    """The steps of a run with their questions and answers."""
    for step, moment in enumerate(moments):
        about = one_line(f"{plain(moment.question or '')} {moment.answer or ''}").strip()
        yield Destination(f"Step {step}", about, partial(go, step))


def branch_destinations(names: Iterable[str], go: Callable[[str], Any]) -> Iterator[Destination]:
    """The branches that one can switch to."""
    for name, shown in told_apart(names).items():
        yield Destination(f"Branch {shown}", "switch to it", partial(go, name))


def record_destinations(paths: Iterable[Path], go: Callable[[Path], Any]) -> Iterator[Destination]:
    """Records that can be opened."""
    for path in paths:
        yield Destination(f"Record {one_line(path.name)}", one_line(str(path)), partial(go, path))


def theme_destinations(names: Iterable[str], go: Callable[[str], Any]) -> Iterator[Destination]:
    """The themes that can be applied."""
    for name in sorted(names):
        yield Destination(f"Theme {one_line(name)}", "apply and remember it", partial(go, name))
