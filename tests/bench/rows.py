"""Lines of a benchmark's table: a figure of ours against another's, as a ratio."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    ours: str
    other: str
    ratio: float
    must: str
    ok: bool | None


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
            f"| {row.what} | {row.ours} | {row.other} | {row.ratio:.2f}x | {row.must} | {mark} |"
        )
    return "\n".join(lines)
