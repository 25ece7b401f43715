"""A head start: the quiz's interpreter is started while the command line is still being loaded.

Only a guess from the words and the record's text. A wrong one costs a process that is ended again;
it never decides anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ..replay.spawn import prestart

_WITHOUT_RUN = {"new", "tui", "doctor"}
_SEED = re.compile(rb"""^[ ]*["']?seed["']?:[ ]*(-?[0-9]{1,30})[ ]*,?[ ]*\r?$""", re.M)


def start(words: Sequence[str]) -> None:
    """Start an interpreter if the words name a record with a seed."""
    names = [word for word in words if not word.startswith("-")][:2]
    if not hasattr(os, "fork") or not names or names[0] in _WITHOUT_RUN or "--help" in words:
        return
    for name in names:
        try:
            with open(name, "rb") as file:
                found = _SEED.search(file.read(4096))
        except OSError:
            continue
        if found:
            prestart(int(found[1]))
            return
