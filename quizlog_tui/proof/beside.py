"""Lists what is in a script's folder, so that a change of anything that a run may read is seen.

What a run reads is not known before it runs: a script puts names together, and looks for files that
are not there yet. So all below the folder counts, also what is hidden; not counted are the script
itself, and what quizlog writes for records as far as no run reads it. Nothing is read, and no link
followed: an entry's mark shows whether it has changed.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..files.paths import decisions_path
from ..replay.script.needed_files import unread_records
from ..replay.script.source import Source

Mark = tuple[int | str, ...]
"""What shows a change of an entry: of a file its stamp, of a link also its target."""
Marks = dict[str, Mark]
"""The mark of each entry by its name relative to the folder; below another as `sub/name`."""
_MOST_ENTRIES = 2_000
"""Maximum number of files and folders: they are looked at a few times a second."""


def beside(source: Source, record: Path) -> Marks | None:
    """The marks of all in the script's folder that a run of it may read; None if it is too much."""
    folder = source.path.parent
    found = marks_below(folder)
    if found is None:
        return None
    left_out = {source.path.name, *_of_record(record, folder)}
    left_out |= unread_records(source, [name for name in found if "/" not in name])
    return {name: mark for name, mark in found.items() if name not in left_out}


def _of_record(path: Path, folder: Path) -> list[str]:
    """The names, relative to a folder, of a record and of what quizlog writes beside it."""
    decisions = decisions_path(path).name
    names = (path.name, f".{path.name}.tmp", decisions, f"{decisions}.lock")
    place = os.path.relpath(os.path.realpath(path.parent), os.path.realpath(folder))
    return [os.path.normpath(os.path.join(place, name)) for name in names]


def marks_below(folder: Path) -> Marks | None:
    """The marks of all below a folder; None if it is too much, or cannot all be listed."""
    found: Marks = {}
    waiting = [""]
    while waiting:
        place = waiting.pop()
        try:
            listed = _listed(folder / place, _MOST_ENTRIES - len(found))
        except (FileNotFoundError, NotADirectoryError):  # it went just now
            continue
        except OSError:  # a run may be able to: its process has rights of its own
            return None
        if listed is None:
            return None
        found |= {f"{place}{name}": mark for name, mark in listed.items()}
        waiting += [f"{place}{name}/" for name, mark in listed.items() if len(mark) == _OF_FOLDER]
    return found


def _listed(folder: Path, most: int) -> Marks | None:
    """The marks of what is directly in a folder; None if that is more than `most`.

    Raises:
        OSError: The folder cannot be listed, or an entry not be examined.
    """
    found: Marks = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(found) == most:
                return None
            try:
                found[entry.name] = _mark(entry)
            except FileNotFoundError:  # it went just now
                continue
    return found


_OF_FOLDER = 3
"""Number of parts of a folder's mark: its times show less than the names in it."""


def _mark(entry: os.DirEntry[str]) -> Mark:
    info = entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(info.st_mode):
        return info.st_dev, info.st_ino, info.st_mode
    target = os.readlink(entry.path) if stat.S_ISLNK(info.st_mode) else ""
    times = info.st_mtime_ns, info.st_ctime_ns
    return info.st_dev, info.st_ino, info.st_mode, *times, info.st_size, target
