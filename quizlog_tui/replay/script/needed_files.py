"""Finds the files that a script needs, as far as its text shows, and those that it must not read.

Runs nothing. A bundle packs only the needed files, so that no private file of the same folder gets
into it. Names that are put together at run time cannot be found here.

An answer may run as code, and must not read files that are there by chance: settings with secrets,
and records. A script gets access to such a file by naming it in a string of its text.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from os.path import isdir, isfile, islink, lexists
from pathlib import Path

from ...errors import ScriptError
from ...files.regular_file import (
    Stamp,
    hex_digest,
    is_settled,
    open_regular,
    read_regular,
    stamp_of,
)
from ...syntax import UNREADABLE, parse
from .source import Source, leads_to_module, read_source

_LONGEST_NAME = 255
_MOST_ENTRIES = 20_000
"""Maximum number of files and folders that are looked at; a folder with more is left out."""
_MOST_MODULES = 500
"""Maximum number of modules whose text is searched."""


def needed_files(source: Source) -> list[Path]:
    """Modules and data files in the script's folder that it mentions, except itself."""
    folder = source.path.parent
    found: dict[Path, None] = {}
    walk = _Walk()
    waiting: list[Path | Source] = [source]
    for _ in range(_MOST_MODULES):
        if not waiting:
            break
        for path in _mentioned(_tree(waiting.pop()), folder, walk):
            if path not in found and path.resolve() != source.path.resolve():
                found[path] = None
                waiting += [path] if path.suffix == ".py" else []
    return sorted(found)


def imported(sources: Iterable[Source]) -> set[str]:
    """The top-level names of all modules that these scripts import."""
    found: set[str] = set()
    for source in sources:
        for node in ast.walk(_tree(source)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found


def _tree(source: Source | Path) -> ast.AST:
    """The parsed text of a script; empty if it cannot be read."""
    try:
        source = read_source(source) if isinstance(source, Path) else source
        return parse(source.data)
    except (ScriptError, *UNREADABLE):
        return ast.Module([], [])


def _mentioned(tree: ast.AST, folder: Path, walk: _Walk) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _data(node.value, folder, walk)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _module(alias.name, folder, walk)
        elif isinstance(node, ast.ImportFrom):
            yield from _module(node.module or "", folder, walk)
            for alias in node.names:
                name = ".".join(filter(None, (node.module, alias.name)))
                yield from _module(name, folder, walk)


def _data(text: str, folder: Path, walk: _Walk) -> Iterator[Path]:
    """The file, or all files of the folder, that a string names."""
    if not 0 < len(text) <= _LONGEST_NAME or "\0" in text or text.strip("./") == "":
        return
    try:
        path = folder / text
        inside = path.resolve().is_relative_to(folder.resolve())
        if inside and path.is_file():
            yield folder / path.resolve().relative_to(folder.resolve())
        elif inside and path.is_dir():
            yield from walk.files(folder / path.resolve().relative_to(folder.resolve()))
    except (OSError, ValueError, RuntimeError):
        return


def _module(name: str, folder: Path, walk: _Walk) -> Iterator[Path]:
    """The file or the package in the folder that an import means.

    A package that is a link is none: it may lead to any folder.
    """
    if not name:
        return
    first, *rest = name.split(".")
    module, package = folder / f"{first}.py", folder / first
    if isfile(module):  # unlike the method, it does not fail for a link into a closed folder
        yield from [module] if leads_to_module(module, folder) else []
    elif islink(package) or not isdir(package):
        return
    elif rest or isfile(package / "__init__.py"):
        yield from walk.files(package)


def files_below(folder: Path) -> Iterator[Path]:
    """The files below a folder, in order, without hidden ones, links and caches."""
    yield from _Walk().files(folder)


class _Walk:
    """A walk through folders, none of them twice, up to a number of entries in all."""

    def __init__(self) -> None:
        self._left = _MOST_ENTRIES
        self._walked: set[Path] = set()

    def files(self, folder: Path) -> Iterator[Path]:
        """The files below a folder, in order; none if they were found before."""
        if folder in self._walked:
            return
        self._walked.add(folder)
        waiting = self._entries(folder)
        while waiting:
            entry = waiting.pop()
            if entry.is_dir(follow_symlinks=False):
                waiting += self._entries(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)

    def _entries(self, folder: str | Path) -> list[os.DirEntry[str]]:
        """What is in a folder, the last first, without hidden entries and caches."""
        try:
            with os.scandir(folder) as entries:
                found = list(islice(entries, self._left + 1))
        except OSError:
            return []
        if len(found) > self._left:
            return []
        self._left -= len(found)
        shown = (one for one in found if one.name[0] != "." and one.name != "__pycache__")
        return sorted(shown, key=lambda one: one.name, reverse=True)


_RECORDS = (".yaml", ".yml", ".json")
_PICTURES = (".svg", ".cast")
_DECISIONS = (".decisions.jsonl", ".decisions.jsonl.lock")
EXPORT = "<!-- quizlog export -->"
"""A line near the start of each export of a record as HTML or Markdown."""
CHECK_REPORT = "<!-- quizlog check -->"
"""A line near the start of each report on a check of records."""
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


def unread_records(source: Source, names: Iterable[str]) -> set[str]:
    """Those of some names in a script's folder that quizlog writes for records, and no run reads.

    Drafts of records are such names too. What has gone since the names were listed counts as well.
    """
    private, folder = {*private_files(source)}, source.path.parent
    written = (name for name in names if _is_written_for_records(name))
    return {name for name in written if name in private or not lexists(folder / name)}


def _is_written_for_records(name: str) -> bool:
    draft = name.startswith(".") and name.endswith(".tmp")
    name = name[1:-4] if draft else name
    return name.endswith((*_RECORDS, *_DECISIONS)) and not name.startswith(".")


def _is(kind: Callable[[], bool]) -> bool:
    """Whether an entry leads to something of a kind; a link that leads nowhere has none."""
    try:
        return kind()
    except OSError:  # links that lead to each other, or into a closed folder
        return False


def _is_record_file(path: Path) -> bool:
    """Whether a file is a record, by its name and first bytes."""
    return path.suffix in _RECORDS and _is_record(os.fspath(path))


def is_made_by_quizlog(path: Path) -> bool:
    """Whether a file is one that quizlog writes for a record: it, its result, decisions, exports.

    Reports on checks are such files too. Pictures of screens count by their names. No module is
    one, so that no code is kept from being looked at.
    """
    if path.name.endswith((*_DECISIONS, *_PICTURES)):
        return True
    if path.suffix == ".py":
        return False
    head = _head(os.fspath(path))
    return _reads_as_record(head) or _has_mark(head, EXPORT) or _has_mark(head, CHECK_REPORT)


def is_marked(path: Path, mark: str) -> bool:
    """Whether one of the first lines of a file is a mark that quizlog writes there."""
    return _has_mark(_head(os.fspath(path)), mark)


def _has_mark(head: bytes, mark: str) -> bool:
    return mark.encode() in head[:100].splitlines()


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
        found = [path for path in needed_files(source) if not _is_record_file(path)]
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
