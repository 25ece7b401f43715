"""Lines of a benchmark's table: a figure of ours against another's, as a ratio."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent


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
    """Print rows to stderr as they come. The file holds all so far, and when they were measured."""
    found: list[Row] = []
    measured_at = _measured_at()
    for row in rows:
        found.append(row)
        print(
            f"{row.what}: {row.ours} / {row.other} = {row.shown_ratio} {row.must}", file=sys.stderr
        )
        data = {"measured": measured_at, "rows": [asdict(one) for one in found]}
        text = json.dumps(data, indent=1, ensure_ascii=False)
        part = target.with_suffix(".part")
        part.write_text(f"{text}\n", encoding="utf-8")
        os.replace(part, target)
    return found


def _measured_at() -> dict[str, str | int]:
    """The day, the commit and the machine that rows are measured on."""
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    git = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": git.stdout.strip(),
        "python": platform.python_version(),
        "cores": os.cpu_count() or 1,
    }


def as_guide_text(results: Path) -> str:
    """A file of results as Markdown: when and where it was measured, its table, how many goals fail."""
    data = json.loads(results.read_text(encoding="utf-8"))
    measured_at, rows = data["measured"], [Row(**row) for row in data["rows"]]
    missed = sum(row.ok is False for row in rows)
    return (
        f"Measured on {measured_at['date']} (commit {measured_at['commit']}), "
        f"Python {measured_at['python']}, {measured_at['cores']} cores:\n\n"
        f"{table(rows)}\n\nFigures that miss their goal: {missed} of {len(rows)}.\n"
    )


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
