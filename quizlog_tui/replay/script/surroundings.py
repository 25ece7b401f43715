"""Lists what a run with a grant finds in its script's folder, each file with its digest.

A grant names this list, and the run gets a copy of just these files (`worker.folder_content`), so
that what it reads and imports there is what was looked at, whatever changes later. Not listed, and
so not there for the run: hidden files, records and what quizlog writes beside them, unless the
script's text names them as `needed_files` finds it; caches, version control and environments, as
code in them could differ from what is shown beside; links that lead out of the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from ...errors import UsageError
from ...files.regular_file import Stamp, hex_digest, is_settled, read_regular, stamp_of
from ...text import is_whole
from .needed_files import is_made_by_quizlog, needed_files
from .source import Source

Surroundings = tuple[tuple[str, str], ...]
"""Each name relative to the folder, with what is there: `sha256:...`, `folder` or `link TARGET`."""
_MOST_ENTRIES, _MOST_BYTES = 2_000, 64 * 2**20
"""Maximum number of files and folders, and of bytes in all."""
_MOST_VISITED = 20_000
"""Maximum number of files and folders in all, records and what else is left out included."""
_LEFT_OUT = frozenset({"__pycache__", "node_modules", "venv"})
_FOLDER, _LINK = "folder", "link "
_known: dict[str, tuple[Stamp, str]] = {}
"""The digests of files that stayed as they were, so that steps do not read them again."""


def surroundings(source: Source) -> Surroundings:
    """What a run of a script finds in its folder, in order.

    Raises:
        UsageError: It is too much to be looked at.
    """
    folder = source.path.parent
    named = {path.relative_to(folder).as_posix() for path in needed_files(source)}
    found = {source.path.name: source.code_hash}
    left = _MOST_BYTES - len(source.data)
    for count, (name, mark, size) in enumerate(_entries(folder, named)):
        if mark:
            found.setdefault(name, mark)
        left -= size
        if left < 0 or len(found) > _MOST_ENTRIES or count > _MOST_VISITED:
            most = f"{_MOST_ENTRIES:,} files or {_MOST_BYTES // 2**20} MB"
            message = f"its folder has more than {most}, which is too much to be looked at"
            hint = "put the script and its files into a folder of their own"
            raise UsageError(message, where=str(folder), hint=hint)
    return tuple(sorted(found.items()))


def differences(before: Mapping[str, str], now: Surroundings) -> list[str]:
    """What changed, is new and is gone, each as `json.py is new`, in this order and by name.

    Folders do not count, only what is in them.
    """
    old = {name: mark for name, mark in before.items() if mark != _FOLDER}
    new = {name: mark for name, mark in now if mark != _FOLDER}
    changed = [name for name in new if name in old and old[name] != new[name]]
    return [
        *(f"{name} changed" for name in changed),
        *(f"{name} is new" for name in new if name not in old),
        *(f"{name} is gone" for name in old if name not in new),
    ]


def _entries(folder: Path, named: set[str]) -> Iterator[tuple[str, str, int]]:
    """Name, mark and size of each entry below a folder; no mark if the run does not find it."""
    waiting = [("", False)]
    while waiting:
        place, closed = waiting.pop()
        for entry in _scanned(folder / place):
            name = f"{place}{entry.name}"
            left_out = closed or _is_left_out(entry)
            if not is_whole(name) or (left_out and not _leads_to_any(name, named)):
                yield name, "", 0
            elif entry.is_symlink():
                yield name, _link(name, os.readlink(entry.path)), 0
            elif entry.is_dir():
                yield name, _FOLDER, 0
                waiting.append((f"{name}/", left_out))
            elif entry.is_file() and (name in named or not is_made_by_quizlog(Path(entry.path))):
                size = entry.stat().st_size
                yield name, _digest(entry.path) if size <= _MOST_BYTES else "", size
            else:
                yield name, "", 0


def _scanned(folder: Path) -> Iterable[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(islice(entries, _MOST_VISITED + 2))
    except OSError:  # the run cannot read it either
        return []


def _is_left_out(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is not there for the run, with all below it, but for what is named."""
    if entry.name.startswith(".") or entry.name in _LEFT_OUT:
        return True
    return entry.is_dir(follow_symlinks=False) and os.path.exists(f"{entry.path}/pyvenv.cfg")


def _leads_to_any(name: str, named: set[str]) -> bool:
    return name in named or any(each.startswith(f"{name}/") for each in named)


def _link(name: str, target: str) -> str:
    """The mark of a link whose text shows that it stays in the folder; else empty.

    After the first other part no `..` may follow, as that part may be a link too.
    """
    parts = target.split("/")
    up = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    stays = up <= name.count("/") and ".." not in parts[up:] and not os.path.isabs(target)
    return f"{_LINK}{target}" if stays and is_whole(target) else ""


def _digest(path: str) -> str:
    """The digest of a file; empty if it cannot be read, as then the run cannot read it either."""
    stamp = stamp_of(path)
    known = _known.get(path)
    if known and stamp and known[0] == stamp:
        return known[1]
    try:
        mark = f"sha256:{hex_digest(read_regular(path, _MOST_BYTES))}"
    except OSError:
        return ""
    if is_settled(stamp):
        if len(_known) >= 4 * _MOST_ENTRIES:
            _known.clear()
        _known[path] = stamp, mark
    return mark
