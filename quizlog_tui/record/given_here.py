"""Remembers which records hold only arguments and answers that were given on this machine.

They decide what a script does, so a grant applies only to a run with arguments and answers that
the user gave or allowed. So do the expressions that a record watches, which run in its process.
Records of scripts that request a grant are remembered when they are made and at each change, by
path and digest, as TOML in the settings folder. A record that came from elsewhere, or was changed
by another program, is remembered after the user has seen all this and allowed it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ..config import config_folder
from ..errors import ConfigError, UsageError
from ..files.durable import write_own_text
from ..files.regular_file import hex_digest
from ..text import clipped, one_line
from .feedback import watches
from .lock import locked
from .model import Record

_MOST = 1_000
"""Maximum number of remembered records; the one that was written least recently is forgotten."""
_LINE = re.compile(r'^("(?:[^"\\]|\\.)*")\s*=\s*"((?:given|shown) sha256:[0-9a-f]{64})"\s*$', re.M)
_HEAD = (
    "# Records whose arguments and answers were given or allowed here. Delete a line to be asked.\n"
)
_GIVEN, _SHOWN = "given", "shown"
_MOST_WATCHED, _LONGEST_WATCHED = 20, 500
"""Watched expressions, and characters of one, that are shown before a grant applies to them."""


def is_given_here(path: Path, record: Record, script: str) -> bool:
    """Whether the arguments and answers of a record were given or allowed on this machine.

    That is so if it has none.

    Args:
        path: The record.
        record: Its content.
        script: The place of its script.
    """
    return not _has_any(record) or _holds(path, f"{_GIVEN} {_digest(record, script)}")


def is_shown(path: Path, record: Record, script: str) -> bool:
    """Whether the user has seen these arguments and answers; see `is_given_here`."""
    return _holds(path, f"{_SHOWN} {_digest(record, script)}")


def note_given(path: Path, record: Record, script: str) -> None:
    """Remember that the arguments and answers of a record were given or allowed here.

    Raises:
        ConfigError: It cannot be stored.
        RecordError: The file of these notes cannot be locked.
        LockedError: Another process holds it for long.
    """
    if _has_any(record):
        _store(path, f"{_GIVEN} {_digest(record, script)}")


def note_shown(path: Path, record: Record, script: str) -> None:
    """Remember that the user has seen the arguments and answers of a record.

    Raises:
        ConfigError: It cannot be stored.
        RecordError: The file of these notes cannot be locked.
        LockedError: Another process holds it for long.
    """
    _store(path, f"{_SHOWN} {_digest(record, script)}")


def given_lines(record: Record, most: int, longest: int = 200) -> list[str]:
    """What the user is shown before a grant applies to a record.

    Args:
        record: The record.
        most: Maximum number of lines of arguments and answers; then stands how many more there are.
        longest: Maximum characters of each.

    Returns:
        The watched expressions first, and whole, as they are code; then the arguments and answers
        of all branches.

    Raises:
        UsageError: It watches more, or longer expressions, than can be shown.
    """
    watched = watches(record)
    if len(watched) > _MOST_WATCHED or any(len(text) > _LONGEST_WATCHED for text in watched):
        hint = "`quizlog watch RECORD --forget EXPR` takes one away"
        raise UsageError("it watches too many or too long expressions to show them", hint=hint)
    lines = list(_given(record, longest))
    more = [f"and {len(lines) - most} more"] if len(lines) > most else []
    return [f"watched expression: {one_line(text)}" for text in watched] + lines[:most] + more


def _given(record: Record, longest: int) -> Iterator[str]:
    def shown(text: str) -> str:
        return clipped(one_line(text), longest)

    for at, text in enumerate(record.args, 1):
        yield f"argument {at}: {shown(text)}"
    for at, text in enumerate(record.inputs):
        yield f"answer {at}: {shown(text)}"
    for name, branch in record.branches.items():
        for at, text in enumerate(branch.inputs, branch.left_at):
            yield f"answer {at} of {shown(name)}: {shown(text)}"


def _has_any(record: Record) -> bool:
    branches = record.branches.values()
    answers = record.inputs or any(branch.inputs for branch in branches)
    return bool(record.args or answers or watches(record))


def _digest(record: Record, script: str) -> str:
    """What tells the runs of a record from others: the script's place, and all that it is given."""
    branches = {name: _answers_of(record, name) for name in record.all_names}
    start = str(record.extras.get("start_time"))
    import json

    every = [script, record.seed, start, list(record.args), sorted(branches.values())]
    every += [sorted(watched)] if (watched := watches(record)) else []
    return f"sha256:{hex_digest(json.dumps(every).encode())}"


def _answers_of(record: Record, name: str) -> list[str]:
    return list(record.path_of(name))


def _path() -> Path:
    return config_folder() / "given-here.toml"


def _holds(path: Path, mark: str) -> bool:
    return _marks().get(os.path.realpath(path)) == mark


def _marks() -> dict[str, str]:
    import json

    try:
        text = _path().read_text(encoding="utf-8")
        return {json.loads(path): mark for path, mark in _LINE.findall(text)}
    except (OSError, ValueError):
        return {}


def _store(path: Path, mark: str) -> None:
    if _holds(path, mark):
        return
    target = _path()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target):  # other records may be written at the same time
            _write(target, os.path.realpath(path), mark)
    except OSError as error:
        said = error.strerror or "is not a file"
        raise ConfigError(f"cannot note what was given: {said}", where=str(target)) from None


def _write(target: Path, place: str, mark: str) -> None:
    import json

    marks = _marks()
    marks.pop(place, None)
    marks[place] = mark
    lines = [f'{json.dumps(key)} = "{value}"\n' for key, value in list(marks.items())[-_MOST:]]
    write_own_text(target, "".join([_HEAD, *lines]))
