"""Making a record for a script."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ..errors import ScriptError
from ..record.model import Record
from ..record.store import RecordFile
from ..record.summary import SUFFIXES
from ..replay.script.source import Source, read_source


def utc_now() -> str:
    """The time, ISO 8601 in UTC, to the second."""
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")


def read_new_script(script: Path) -> Source:
    """Read the script that a new record is to be made for.

    Raises:
        ScriptError: It cannot be read, or is a record itself.
    """
    source = read_source(script)
    if script.suffix in SUFFIXES:
        hint = "name a Python file; a record is opened by `quizlog RECORD`"
        raise ScriptError("is a record, not a script", where=str(script), hint=hint)
    return source


def new_record(
    script: Path, record: Path, seed: int, *, clock: Callable[[], str] = utc_now
) -> None:
    """Write a new record for a script.

    Raises:
        ScriptError: The script cannot be read, or is a record itself.
        RecordError: The record exists already, or cannot be written.
    """
    import uuid

    source = read_new_script(script)
    folder = Path(os.path.realpath(record)).parent
    extras = {"start_time": clock(), "execution_id": str(uuid.uuid4())}
    relative = os.path.relpath(source.path, folder)
    empty = Record(relative, seed, code_hash=source.code_hash, extras=extras)
    RecordFile(record).create(empty)
