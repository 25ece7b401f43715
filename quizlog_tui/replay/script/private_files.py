"""Finds files in a script's folder that it must not read: settings with secrets, and records.

An answer may run as code, and must not read files that are there by chance. A script gets access to
such a file by naming it in a string of its text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ...files.regular_file import open_regular
from .needed_files import needed_files
from .source import Source

_RECORDS = (".yaml", ".yml", ".json")
_PICTURES = (".svg", ".cast")
_DECISIONS = (".decisions.jsonl", ".decisions.jsonl.lock")
EXPORT = "<!-- quizlog export -->"
"""A line near the start of each export of a record as HTML or Markdown."""
_HEAD = 4096
"""Number of bytes of a file that are searched for a record's keys."""
_SCRIPT, _SEED = (
    re.compile(rb"""(?:^|[\s{,])["']?%b["']?\s*:""" % key) for key in (b"script", b"seed")
)


def private_files(source: Source) -> list[str]:
    """Names of the files in a script's folder that are hidden from it.

    A run with a grant finds only what was looked at, and none of these: see `surroundings`.
    """
    if "real-files" in source.allowed or source.surroundings:
        return []
    try:
        with os.scandir(source.path.parent) as entries:
            beside = [entry for entry in entries if entry.name != source.path.name]
    except OSError:
        return []
    found = sorted(entry.name for entry in beside if _is_private(entry))
    asked = _asked(source, beside, found)
    return [name for name in found if name not in asked]


def _is_private(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    if name.startswith(".") or name.endswith(_DECISIONS):
        return entry.is_symlink() or _is(entry.is_file)
    return name.endswith(_RECORDS) and _is(entry.is_file) and _is_record(entry.path)


def _is(kind: Callable[[], bool]) -> bool:
    """Whether an entry leads to something of a kind; a link that leads nowhere has none."""
    try:
        return kind()
    except OSError:  # links that lead to each other, or into a closed folder
        return False


def is_record_file(path: Path) -> bool:
    """Whether a file is a record, by its name and first bytes."""
    return path.suffix in _RECORDS and _is_record(os.fspath(path))


def is_made_by_quizlog(path: Path) -> bool:
    """Whether a file is one that quizlog writes for a record: it, its result, decisions, exports.

    Pictures of screens count by their names. No module is one, so that no code is kept from being
    looked at.
    """
    if path.name.endswith((*_DECISIONS, *_PICTURES)):
        return True
    if path.suffix == ".py":
        return False
    head = _head(os.fspath(path))
    return _reads_as_record(head) or EXPORT.encode() in head[:100].splitlines()


def _is_record(path: str) -> bool:
    return _reads_as_record(_head(path))


def _head(path: str) -> bytes:
    """The first bytes of a file; empty if it cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def _reads_as_record(head: bytes) -> bool:
    return bool(_SCRIPT.search(head) and _SEED.search(head))


def _asked(source: Source, beside: list[os.DirEntry[str]], names: list[str]) -> set[str]:
    """The names that occur in a string of the script or of one of its modules."""
    has_modules = any(entry.name.endswith(".py") or _is(entry.is_dir) for entry in beside)
    if not has_modules and not any(os.fsencode(name) in source.data for name in names):
        return set()  # the usual case, without reading the text as code
    return set(_relative(needed_files(source), source.path.parent)) if names else set()


def _relative(paths: list[Path], folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in paths)
