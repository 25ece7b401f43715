"""The file of a record's decisions, `<record>.decisions.jsonl`: one per line, append-only.

An unreadable line is reported with its number; the others stay readable. Standard library only.
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
"""Maximum size of a file; larger ones are refused unread."""


class DecisionFile(NamedTuple):
    """The content of a file of decisions."""

    decisions: list[Decision]
    """The readable decisions, oldest first."""
    faults: list[DecisionError]
    """One error for each unreadable line."""


def read_decisions(path: Path) -> DecisionFile:
    """All decisions in a file; none if the file does not exist.

    Raises:
        DecisionError: The file itself cannot be read.
    """
    content = DecisionFile([], [])
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            try:
                content.decisions.append(from_line(line, f"{path}:{number}"))
            except DecisionError as fault:
                content.faults.append(fault)
    return content


def _lines(path: Path) -> list[bytes]:
    try:
        return read_regular(path, MAX_BYTES).split(b"\n") if path.exists() else []
    except OSError as error:
        raise DecisionError(f"cannot read: {error.strerror}", where=str(path)) from None


def append_decision(path: Path, decision: Decision) -> None:
    """Append a decision as one line, durably. An incomplete last line is left unchanged.

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
            reason = unwritable(error, path)
            raise DecisionError(reason.message, where=reason.where, hint=reason.hint) from None


def _append(path: Path, line: bytes) -> None:
    with open(path, "ab", buffering=0) as file:
        view = memoryview(line)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())


def _cut(path: Path, size: int | None) -> None:
    """Cut a file back to its former size, or remove it if it did not exist."""
    with contextlib.suppress(OSError):
        if size is None:
            path.unlink()
        else:
            os.truncate(path, size)


def _last_byte(path: Path) -> bytes:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)
