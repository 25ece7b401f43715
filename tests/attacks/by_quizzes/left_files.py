"""Reads the files in a quiz's folder after an attack as hostile data."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

_MOST = 4 << 20
"""Maximum bytes read of a file or a part of a bundle."""


@dataclass(frozen=True)
class LeftFile:
    """A new file, made by the script or by a command."""

    name: str
    mode: int
    text: str
    """Its content; for a bundle, the content of its parts."""


def left_files(folder: Path, given: Collection[str]) -> Iterator[LeftFile]:
    """The regular files below a folder.

    Args:
        folder: Where.
        given: Names of files that lay there before.
    """
    for path in sorted(folder.rglob("*")):
        about, name = path.lstat(), str(path.relative_to(folder))
        if stat.S_ISREG(about.st_mode) and name not in given:
            yield LeftFile(name, about.st_mode, _text(path))


def _text(path: Path) -> str:
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            return os.fsdecode(file.read(_MOST))
    with zipfile.ZipFile(path) as bundle:
        parts = [bundle.open(name).read(_MOST) for name in bundle.namelist()]
    return os.fsdecode(b"\n".join(parts))
