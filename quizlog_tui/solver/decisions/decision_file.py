"""Where decisions are kept: `<record>.decisions.jsonl`, one line each, only ever added to.

A line that cannot be read is named with its number; the others stay readable. Standard library
only.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from ...errors import DecisionError
from ...files.paths import decisions_path as decisions_path
from ...files.regular_file import read_regular
from ...record.durable import unwritable
from ...record.lock import locked
from .decision import Decision
from .decision_text import from_line, to_line

MAX_BYTES = 256 * 1024 * 1024
"""Larger files are refused before they are read."""


class StoredDecision(NamedTuple):
    """What a file of decisions holds."""

    decisions: list[Decision]
    """Those that can be read, oldest first."""
    faults: list[DecisionError]
    """One for each line that cannot."""


def read_decisions(path: Path) -> StoredDecision:
    """All decisions of a file; none if there is no file.

    Raises:
        DecisionError: The file itself cannot be read.
    """
    kept = StoredDecision([], [])
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            try:
                kept.decisions.append(from_line(line, f"{path}:{number}"))
            except DecisionError as fault:
                kept.faults.append(fault)
    return kept


def _lines(path: Path) -> list[bytes]:
    try:
        return read_regular(path, MAX_BYTES).split(b"\n") if path.exists() else []
    except OSError as error:
        raise DecisionError(f"cannot read: {error.strerror}", where=str(path)) from None


def append_decision(path: Path, decision: Decision) -> None:
    """Add a decision as one line, durably. A last line that broke off is left as it is.

    Raises:
        DecisionError: The file cannot be written.
        LockedError: Another process holds it.
    """
    line = f"{to_line(decision)}\n".encode()
    with locked(path):
        before = path.stat().st_size if path.exists() else None
        try:
            if before and _last_byte(path) != b"\n":
                line = b"\n" + line
            _append(path, line)
        except OSError as error:
            _cut(path, before)
            told = unwritable(error, path)
            raise DecisionError(told.message, where=told.where, hint=told.hint) from None


def _append(path: Path, line: bytes) -> None:
    with open(path, "ab", buffering=0) as file:
        view = memoryview(line)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())


def _cut(path: Path, size: int | None) -> None:
    """Take back what was added to a file of that size, or the file where there was none."""
    with contextlib.suppress(OSError):
        if size is None:
            path.unlink()
        else:
            os.truncate(path, size)


def _last_byte(path: Path) -> bytes:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)
