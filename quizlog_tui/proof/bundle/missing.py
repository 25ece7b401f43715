"""Finds files that a script needs but does not name, by running it without them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from ...record.store import RecordFile
from ...replay.replayer import replay
from ...replay.script.granted import granted_script_of
from ...replay.script.needed_files import files_below
from ...replay.world import world_of
from .chain import step_lines

_MOST_FILES = 1000
"""Maximum number of files of a folder that are tried; with more, none is found."""


def missing_files(path: Path, given: Collection[str]) -> list[Path]:
    """Files in the script's folder without which the record's run differs.

    Args:
        path: The record.
        given: Names of the files that the script has.
    """
    record = RecordFile(path).read()
    source = granted_script_of(path, record)
    folder = source.path.parent
    names = [file.relative_to(folder).as_posix() for file in files_below(folder)]
    others = [name for name in names if name not in given]
    if len(others) > _MOST_FILES:
        return []
    world = world_of(record)
    world = replace(world, changed=world.changed | {"leftovers"})

    def lines(hidden: Sequence[str]) -> list[str]:
        run = replay(source, replace(world, hidden=tuple(hidden)), record.used)
        return step_lines(run, "")

    whole = lines([])
    return [folder / name for name in _decisive(others, lambda hidden: lines(hidden) != whole)]


def _decisive(names: Sequence[str], differs: Callable[[Sequence[str]], bool]) -> list[str]:
    """The names that make a difference when they are hidden, found by halving."""
    found: list[str] = []
    rest = list(names)
    while differs(rest):
        part = rest
        while len(part) > 1:
            half = part[: len(part) // 2]
            part = half if differs(half) else part[len(part) // 2 :]
        if not differs(part):  # only several of them together make a difference
            break
        found += part
        rest = [name for name in rest if name not in part]
    return found
