"""Makes new records."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import ScriptError
from ..record.append_only_list import AppendOnlyList
from ..record.given_here import is_given_here, note_given
from ..record.model import Record, with_file_hashes
from ..record.store import RecordFile, is_record
from ..replay.replayer import Replayer
from ..replay.script.granted import granted_script_of, place_of
from ..replay.script.needed_files import file_hashes
from ..replay.script.source import Source, read_source
from ..replay.world import world_of
from .live_record import utc_now


def read_new_script(script: Path) -> Source:
    """Read the script that a new record is to be made for.

    Raises:
        ScriptError: It cannot be read, or is a record itself.
    """
    source = read_source(script)
    if is_record(script):
        hint = "name a Python file; a record is opened by `quizlog RECORD`"
        raise ScriptError("is a record, not a script", where=str(script), hint=hint)
    return source


def script_of(record: Path) -> Path:
    """The path of a record's script.

    Raises:
        RecordError: The record cannot be read.
    """
    return record.parent / RecordFile(record).read().script


def new_record(
    script: Path,
    record: Path,
    seed: int,
    args: Sequence[str] = (),
    *,
    clock: Callable[[], str] = utc_now,
) -> None:
    """Write a new record for a script.

    Args:
        script: The script's file.
        record: The new file.
        seed: The seed of all randomness in the script.
        args: The script's arguments.
        clock: Gives the time at which it starts.

    Raises:
        ScriptError: The script cannot be read, or is a record itself.
        RecordError: The record exists already, or cannot be written.
    """
    source = read_new_script(script)
    empty = Record("", seed, code_hash=source.code_hash, args=tuple(args))
    _create(record, source, empty, clock(), given_here=True)


def run_again(
    known: Path,
    record: Path,
    replayer: Replayer,
    *,
    seed: int | None = None,
    args: Sequence[str] | None = None,
) -> Source:
    """Write a new record that gives a record's answers to its script again, as far as it asks.

    The clocks of the script start when they started for the known record.

    Args:
        known: The record.
        record: The new file.
        replayer: Runs the script.
        seed: Another seed; None for the same.
        args: Other arguments of the script; None for the same.

    Returns:
        The script.

    Raises:
        ScriptError: The script cannot be read.
        RecordError: The known record cannot be read, or the new one exists already or cannot be
            written.
        LimitError: The script went over a limit.
    """
    old = RecordFile(known).read()
    source = granted_script_of(known, old)
    new = Record(
        "",
        old.seed if seed is None else seed,
        inputs=old.inputs,
        pointer=len(old.inputs),
        code_hash=source.code_hash,
        args=old.args if args is None else tuple(args),
    )
    start_time = old.extras.get("start_time")
    world = world_of(new.but(extras={"start_time": start_time}))
    taken = len(replayer.replay(source, world, old.inputs).steps)
    new = new.but(inputs=AppendOnlyList(old.inputs[:taken]), pointer=taken)
    given_here = is_given_here(known, old, place_of(source.path))
    _create(record, source, new, start_time, given_here=given_here)
    return source


def _create(
    record: Path, source: Source, content: Record, start_time: Any, *, given_here: bool
) -> None:
    """Write a record of a script, whose path it names relative to itself.

    It is noted if what it gives to a script that requests a grant was given or allowed here.
    """
    import uuid

    script = os.path.relpath(source.path, Path(os.path.realpath(record)).parent)
    extras = {"start_time": start_time, "execution_id": str(uuid.uuid4())}
    if start_time is None:
        del extras["start_time"]
    extras = with_file_hashes(extras, file_hashes(source))
    made = content.but(script=script, extras=extras)
    RecordFile(record).create(made)
    if source.asked and given_here:
        note_given(record, made, place_of(source.path))
