"""Bringing a whole file of older lines into the present form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ...errors import EpisodeError
from ..format.lines import plain_line, to_line
from ..format.migrations import told_of, upgraded
from .files import write_lines
from .reading import LineError, lines, parse

_INDEX = re.compile(r"\[\d+\]")


def upgrade_file(
    file: Path, output: Path, advanced: Callable[[int], None] | None = None
) -> dict[str, Any]:
    """Write every line of a file in the present form; lines that need nothing stay as they are.

    Args:
        file: The file.
        output: The file to write; may be the same.
        advanced: Told how many bytes were read, after each line.

    Returns:
        `lines`, `changed`, and `notes`: what was done, with how often.

    Raises:
        EpisodeError: A line is no JSON object, or the output cannot be written.
    """
    notes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    write_lines(output, _lines(lines(file, advanced), file, notes, counts))
    return {
        "lines": counts["lines"],
        "changed": counts["changed"],
        "notes": dict(notes.most_common()),
    }


def _lines(
    found: Iterable[tuple[int, bytes]], file: Path, notes: Counter[str], counts: Counter[str]
) -> Iterator[str]:
    for number, line in found:
        counts["lines"] += 1
        try:
            episode, told = upgraded(parse(line))
        except LineError as error:
            hint = "mend or remove that line"
            raise EpisodeError(str(error), where=f"{file}:{number}", hint=hint) from None
        if not told:
            yield line.decode("utf-8")
            continue
        counts["changed"] += 1
        notes.update(f"{_INDEX.sub('[]', path)} {what}" for path, what in told)
        yield to_line(episode) if told_of(episode) is not None else plain_line(episode)
