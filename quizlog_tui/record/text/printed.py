"""The last printed strings of a record in quizlog's own layout, without parsing all of it.

They are only shown while the record is being replayed: they prove nothing, and none are found in a
record with another layout.
"""

from __future__ import annotations

import json
from mmap import ACCESS_READ, mmap
from pathlib import Path

from ...files.regular_file import open_regular

_BYTES = 256 * 1024
"""How many bytes before the end of `print` are read at most."""


def printed_tail(path: Path, count: int) -> list[str]:
    """The last strings of the list `print`, at most `count`; empty if they are not found."""
    try:
        with open_regular(path) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            # The list `trail` follows `print` and may be as long.
            trail = data.rfind(b"\ntrail:\n")
            end = trail if trail >= 0 else len(data)
            start = max(0, end - _BYTES)
            lines = data[start:end].split(b"\n")
    except (OSError, ValueError):  # it cannot be read, or is empty
        return []
    return _texts(lines[1:] if start else lines)[-count:]


def _texts(lines: list[bytes]) -> list[str]:
    """The items of the list `print`, whose key may be above these lines."""
    starts = [at for at, line in enumerate(lines) if line == b"print:"]
    if not starts and any(line.startswith(b"pointer:") for line in lines):
        return []  # nothing was printed: these items are answers
    items: list[str] = []
    for line in lines[starts[-1] + 1 if starts else 0 :]:
        if not line.startswith(b'- "'):
            break
        try:
            items.append(json.loads(line[2:]))
        except ValueError:
            return []
    return items
