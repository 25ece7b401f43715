"""Digests of the other files of a script: modules and data in its folder that its text mentions.

They tell runs of other versions apart. Records are left out: they change with each answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from ...files.regular_file import Stamp, hex_digest, is_settled, read_regular, stamp_of
from .needed_files import needed_files
from .private_files import is_record_file
from .source import Source

_MOST_FILES, _MOST_BYTES = 200, 16 * 2**20
"""Maximum number of files, and size of each: they are read again after each change."""
_MOST_SCRIPTS = 64
_known: dict[Path, tuple[Source, list[Path], Stamp, Mapping[str, str]]] = {}


def file_hashes(source: Source) -> Mapping[str, str]:
    """`sha256:...` of each of them by its name relative to the script's folder, in order."""
    known = _known.get(source.path)
    if known and known[0] == source and known[2] == stamp_of(*known[1]):
        return known[3]
    files = _other_files(source)
    stamp = stamp_of(*files)
    folder = source.path.parent
    hashes = {path.relative_to(folder).as_posix(): _digest(path) for path in files}
    found = {name: text for name, text in hashes.items() if text}
    if not files or is_settled(stamp):
        if len(_known) >= _MOST_SCRIPTS:
            _known.clear()
        _known[source.path] = source, files, stamp, found
    return found


def _other_files(source: Source) -> list[Path]:
    if not _mentions_any(source):
        return []
    try:
        found = [path for path in needed_files(source) if not is_record_file(path)]
        return [path for path in found if path.stat().st_size <= _MOST_BYTES][:_MOST_FILES]
    except OSError:  # one of them was removed just now
        return []


def _mentions_any(source: Source) -> bool:
    """Whether the script's text may name a file beside it: found without reading it as code."""
    try:
        with os.scandir(source.path.parent) as entries:
            names = {
                entry.name.removesuffix(".py") for entry in entries if entry.name[:1] not in "._"
            } - {source.path.stem}
    except OSError:
        return False
    held = (name for name in map(os.fsencode, names) if name in source.data)
    return any(re.search(rb"\b%b\b" % re.escape(name), source.data) for name in held)


def _digest(path: Path) -> str:
    try:
        return f"sha256:{hex_digest(read_regular(path, _MOST_BYTES))}"
    except OSError:
        return ""
