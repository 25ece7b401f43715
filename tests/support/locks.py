"""What tests of locks share: who waits."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from quizlog_tui.files.regular_file import hex_digest

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps who waits in line")


def queue_of(path: Path) -> str:
    """What the places in line for a file are called, without their numbers."""
    return f"quizlog-{hex_digest(os.fsencode(os.path.realpath(path)))[:32]}-"


def places(path: Path) -> list[int]:
    """The places that are taken in the queue for a file, from the first, 0."""
    with open("/proc/net/unix", encoding="ascii", errors="replace") as file:
        return sorted(map(int, re.findall(rf"@{re.escape(queue_of(path))}(\d+)", file.read())))
