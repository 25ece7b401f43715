"""Starts the quiz's interpreter while the command line is still being loaded.

It guesses from the words and the record's text. A wrong guess costs only a process that is ended
again. Without it a cold `quizlog RECORD` takes 1.16 times as long (measured by
`tests/bench/readers.py`).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence

from ..files.regular_file import open_regular
from ..replay.process.spawn import prestart

_RUNS = {
    "rewind", "fork", "branches", "switch", "amend", "bisect", "sweep",
    "rename", "note", "delete", "restore", "steps", "export", "verify", "solve", "tui",
}  # fmt: skip
"""The commands that run their record."""
_SEED = re.compile(rb"""^[ ]*["']?seed["']?:[ ]*(-?[0-9]{1,30})[ ]*,?[ ]*\r?$""", re.M)


def start(words: Sequence[str]) -> None:
    """Start an interpreter if the words name a record with a seed."""
    names = [word for word in words if not word.startswith("-")][:2]
    if not hasattr(os, "fork") or not names or "--help" in words:
        return
    try:
        with open_regular(names[names[0] in _RUNS and len(names) > 1]) as file:
            found = _SEED.search(file.read(4096))
    except OSError:
        return
    if found:
        with contextlib.suppress(OSError):  # the command itself will meet it, and say so
            prestart(int(found[1]) % 2**32)
