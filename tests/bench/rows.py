"""Lines of a benchmark's table: a figure of ours against another's, as a ratio."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    ours: str
    other: str
    ratio: float | None
    must: str
    ok: bool | None
    why_empty: str = ""
    """Why nothing was measured; empty if something was."""

    @property
    def shown_ratio(self) -> str:
        return f"not measured: {self.why_empty}" if self.ratio is None else f"{self.ratio:.2f}x"


def empty(what: str, why: str) -> Row:
    """A line for what could not be measured."""
    return Row(what, "", "", None, "", None, why)


def measured(parts: Mapping[str, Callable[[], Iterable[Row]]]) -> Iterator[Row]:
    """The rows of all parts; a part that fails ends with a row that says why, and the next begins."""
    for name, part in parts.items():
        try:
            yield from part()
        except Exception as error:
            said = " ".join(str(error).split())
            yield empty(name, f"{type(error).__name__}: {said}" if said else type(error).__name__)


def collect(rows: Iterable[Row], target: Path) -> list[Row]:
    """Take rows as they come: each is told, and the file holds all so far."""
    found: list[Row] = []
    for row in rows:
        found.append(row)
        print(
            f"{row.what}: {row.ours} / {row.other} = {row.shown_ratio} {row.must}", file=sys.stderr
        )
        text = json.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False)
        part = target.with_suffix(".part")
        part.write_text(f"{text}\n", encoding="utf-8")
        os.replace(part, target)
    return found


def at_most(what: str, ours: float, other: float, bound: float | None) -> Row:
    """Smaller is better: ours at most `bound` times the other."""
    ratio = ours / other
    ok = None if bound is None else ratio <= bound
    must = "" if bound is None else f"at most {bound:g}x"
    return Row(what, time_text(ours), time_text(other), ratio, must, ok)


def faster(what: str, ours: float, other: float, bound: float | None) -> Row:
    """Ours at least `bound` times as fast as the other."""
    ratio = other / ours
    ok = None if bound is None else ratio >= bound
    must = "" if bound is None else f"at least {bound:g}x faster"
    return Row(what, time_text(ours), time_text(other), ratio, must, ok)


def time_text(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| figure | quizlog | against | ratio | must reach | |", "|---|---|---|---|---|---|"]
    for row in rows:
        mark = {True: "✓", False: "✗", None: ""}[row.ok]
        lines.append(
            f"| {row.what} | {row.ours} | {row.other} | {row.shown_ratio} | {row.must} | {mark} |"
        )
    return "\n".join(lines)
