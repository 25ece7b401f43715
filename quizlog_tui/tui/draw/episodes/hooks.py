"""Draws the hooks of a run as a text graph: one row each, with lines to its dependencies.

`○` depends on nothing, `●` on the hook that its line comes from. Uses no widgets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

WIDEST = 12
"""Maximum number of parallel lines; a wider graph is described in words only."""

Edges = Sequence[tuple[str, Sequence[str]]]
"""Each hook's name and the names that it depends on, in order."""


def graph(hooks: Edges) -> list[str]:
    """The drawing to the left of each hook, all of the same width; empty if the graph is too wide.

    A name shared by several hooks means the last of them. A name not defined yet is ignored.
    """
    drawn: list[str] = []
    for row in _rows(_needed(hooks)):
        drawn.append(row)
        if len(row) > 2 * WIDEST:
            return [""] * len(hooks)
    width = max(map(len, drawn), default=0)
    return [row.ljust(width) for row in drawn]


def _needed(hooks: Edges) -> list[set[int]]:
    """The indexes of the hooks that each depends on."""
    known: dict[str, int] = {}
    found = []
    for index, (name, depends_on) in enumerate(hooks):
        found.append({known[each] for each in depends_on if each in known})
        known[name] = index
    return found


def _rows(needed: Sequence[Set[int]]) -> Iterator[str]:
    last_use = {source: index for index, sources in enumerate(needed) for source in sources}
    lanes: list[int | None] = []  # the hook whose line runs in each column
    above = ""
    for index, sources in enumerate(needed):
        joined = [at for at, source in enumerate(lanes) if source in sources]
        ending = [at for at in joined if last_use[_hook(lanes, at)] == index]
        own = ending[0] if ending else _free(lanes, above if sources else "")
        lanes += [None] * (own + 1 - len(lanes))
        row = _row(lanes, own, joined, ending, "●" if sources else "○")
        for at in ending:
            lanes[at] = None
        lanes[own] = index if index in last_use else None
        while lanes and lanes[-1] is None:
            lanes.pop()
        above = row
        yield row.rstrip()


def _hook(lanes: Sequence[int | None], at: int) -> int:
    found = lanes[at]
    assert found is not None
    return found


def _free(lanes: Sequence[int | None], above: str) -> int:
    """A column without a line, and with nothing above it that a hook would seem to come from."""
    at = 0
    while (at < len(lanes) and lanes[at] is not None) or above[2 * at : 2 * at + 1].strip():
        at += 1
    return at


def _row(
    lanes: Sequence[int | None], own: int, joined: Sequence[int], ending: Sequence[int], sign: str
) -> str:
    """One row: lines that pass, those that are joined, and between them and the hook a line."""
    first, last = min([own, *joined]), max([own, *joined])
    cells = []
    for at, source in enumerate(lanes):
        inside = first < at < last
        if at == own:
            cell = sign
        elif at in ending:
            cell = "┴" if inside else "╰╯"[at > own]
        elif at in joined:
            cell = "┼" if inside else "├┤"[at > own]
        elif source is None:
            cell = "─" if inside else " "
        else:
            cell = "┼" if inside else "│"
        cells.append(cell + ("─" if first <= at < last else " "))
    return "".join(cells)
