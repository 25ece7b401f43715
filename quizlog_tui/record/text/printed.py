"""The end of what a record in our own layout says was printed, without reading all of it.

Only for looking while the record is being replayed: it proves nothing, and finds nothing in a
record that was written otherwise.
"""

from __future__ import annotations

import json
from mmap import ACCESS_READ, mmap
from pathlib import Path

from ...files.regular_file import open_regular

_BYTES = 256 * 1024
"""How much of the file's end is looked at."""


def printed_tail(path: Path, count: int) -> list[str]:
    """The last texts of the list `print`, at most `count`; empty if they are not found."""
    try:
        with open_regular(path) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            # The trail is a list as well; it follows what was printed, and is long where that is.
            trail = data.rfind(b"\ntrail:\n")
            end = trail if trail >= 0 else len(data)
            start = max(0, end - _BYTES)
            lines = data[start:end].split(b"\n")
    except (OSError, ValueError):  # it cannot be read, or is empty
        return []
    return _texts(lines[1:] if start else lines)[-count:]


def _texts(lines: list[bytes]) -> list[str]:
    """The items of the list under `print`, or of one whose key is before these lines."""
    starts = [at for at, line in enumerate(lines) if line == b"print:"]
    if not starts and any(line.startswith(b"pointer:") for line in lines):
        return []  # nothing was printed: what stands here are answers
    found: list[str] = []
    for line in lines[starts[-1] + 1 if starts else 0 :]:
        if not line.startswith(b'- "'):
            break
        try:
            found.append(json.loads(line[2:]))
        except ValueError:
            return []
    return found
