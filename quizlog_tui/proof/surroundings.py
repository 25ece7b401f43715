"""The surroundings of a script: leftover files, files that it names, another folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import listdir
from os.path import isfile
from pathlib import Path

from ..replay.script.needed_files import needed_files
from ..replay.script.source import Source
from ..replay.transcript import Transcript
from ..replay.worker.fixed.other_machine import OtherMachine
from ..replay.worker.folder import ROOMS

_MOST_NAMES = 5
"""Maximum number of files named in a sentence."""


def left_over(run: Transcript, folder: Path, how: str = "file") -> Iterator[str]:
    """Files that the script writes and that exist in the user's folder.

    Args:
        run: The run.
        folder: The script's folder.
        how: "file" for files that it wrote before reading them; "update" for files that it read
            first, which may be data of the script or left over.
    """
    for name in run.observed:
        kind, _, path = name.partition(" ")
        if kind == how and isfile(folder / path):
            yield path


def named_files(source: Source) -> str:
    """The modules and data files that a script's text names, in brackets."""
    folder = source.path.parent
    names = [path.relative_to(folder).as_posix() for path in needed_files(source)]
    shown = [*names[:_MOST_NAMES], *(["..."] if names[_MOST_NAMES:] else [])]
    return f" ({', '.join(shown)})" if shown else ""


@contextmanager
def elsewhere(folder: Path, seed: int) -> Iterator[str]:
    """Another path, of another length, for a folder: as if another user had it.

    Args:
        folder: The folder.
        seed: Chooses the user.
    """
    machine = OtherMachine(seed)
    user, name = machine.user, next(one for one in machine.folders if one != folder.name)
    places = (f"{room}/{user}/{name}" for room in ROOMS if _is_empty(room))
    known = next((path for path in places if len(path) != len(str(folder))), None)
    if known is not None:
        yield known
        return
    from ..files.scratch import scratch_folder

    with scratch_folder("verify") as base:
        other = base / (name if len(str(base / name)) != len(str(folder)) else f"{user}/{name}")
        other.mkdir(parents=True)
        yield str(other)


def _is_empty(folder: str) -> bool:
    """Whether a folder is there, in which a run may mount what only it sees."""
    try:
        return not listdir(folder)
    except OSError:
        return False
