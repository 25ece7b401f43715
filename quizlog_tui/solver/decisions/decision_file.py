"""The file of a record's decisions, `<record>.decisions.jsonl`: one per line, append-only.

An unreadable line is reported with its number; the others stay readable. Standard library only.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from ...errors import DecisionError, RecordError
from ...files.durable import FileKind, check_place, unwritable
from ...files.paths import decisions_path as decisions_path
from ...files.regular_file import read_regular
from ...record.lock import locked
from .decision import Decision
from .decision_text import from_line, to_line

MAX_BYTES = 256 * 1024 * 1024
"""Maximum size of a file; larger ones are refused unread."""
_BEGINNING = b'{"id": "'
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


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


def check_decisions_place(path: Path) -> None:
    """Refuse, before a decision is paid for, a place where it could not be stored.

    Raises:
        DecisionError: There is a link, or a file that holds no decisions.
    """
    try:
        check_place(path, DECISIONS)
    except RecordError as error:
        raise DecisionError(error.message, where=error.where, hint=error.hint) from None


def append_decision(path: Path, decision: Decision) -> None:
    """Append a decision as one line, durably. An incomplete last line is left unchanged.

    Raises:
        DecisionError: The file cannot be written.
        LockedError: Another process holds it.
    """
    line = f"{to_line(decision)}\n".encode()
    check_decisions_place(path)
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


def _has_decisions(path: Path) -> bool:
    """Whether a line is a decision, or the first one was broken off."""
    with contextlib.suppress(DecisionError):
        lines = _lines(path)
        if len(lines) == 1 and lines[0].startswith(_BEGINNING):
            return True
        for line in lines:
            with contextlib.suppress(DecisionError):
                from_line(line, str(path))
                return True
    return False


DECISIONS = FileKind("a file of decisions", _has_decisions, beside=True)


def _append(path: Path, line: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | _NO_LINK, 0o666)
    with open(fd, "ab", buffering=0) as file:
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
