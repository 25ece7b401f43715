"""Finds the files that a script needs, as far as its text shows. Runs nothing.

A bundle packs only these, so that no private file of the same folder gets into it. Names that are
put together at run time cannot be found here.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from os.path import isdir, isfile, islink
from pathlib import Path

from ...errors import ScriptError
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
    import warnings

    try:
        source = read_source(source) if isinstance(source, Path) else source
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source.data)
    except (ScriptError, SyntaxError, ValueError, RecursionError, MemoryError):
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
