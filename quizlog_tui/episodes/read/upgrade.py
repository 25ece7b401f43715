"""Converts a file of older episodes to the present version."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypedDict

from ...errors import EpisodeError
from ..format.lines import plain_line, to_line
from ..format.migrations import gold_metadata, upgraded
from .files import ROWS, write_lines
from .reading import LineError, lines, parse

_INDEX = re.compile(r"\[\d+\]")


class Upgraded(TypedDict):
    """What was converted."""

    lines: int
    changed: int
    notes: dict[str, int]
    """Each change with its frequency."""


def upgrade_file(
    file: Path, output: Path, advanced: Callable[[int], None] | None = None
) -> Upgraded:
    """Write every line of a file in the present version; up-to-date lines are copied unchanged.

    Args:
        file: The file.
        output: The file to write; may be the same file.
        advanced: Called after each line with the number of bytes read.

    Raises:
        EpisodeError: A line is not a JSON object, or the output cannot be written.
    """
    notes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    write_lines(output, _lines(lines(file, advanced), file, notes, counts), ROWS)
    return {
        "lines": counts["lines"],
        "changed": counts["changed"],
        "notes": dict(notes.most_common()),
    }


def _lines(
    numbered: Iterable[tuple[int, bytes]], file: Path, notes: Counter[str], counts: Counter[str]
) -> Iterator[str]:
    for number, line in numbered:
        counts["lines"] += 1
        try:
            episode, changes = upgraded(parse(line))
        except LineError as error:
            hint = "fix or remove that line"
            raise EpisodeError(str(error), where=f"{file}:{number}", hint=hint) from None
        if not changes:
            yield line.decode("utf-8")
            continue
        counts["changed"] += 1
        notes.update(f"{_INDEX.sub('[]', path)} {what}" for path, what in changes)
        yield to_line(episode) if gold_metadata(episode) is not None else plain_line(episode)
