"""Finds the file that a client names, in the served folders only.

A name is a relative path in such a folder, with or without its suffix, or a folder that contains a
questionnaire. Symbolic links are followed, and must not lead out of the served folders.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import QuizlogError, UsageError
from ..files.regular_file import read_regular
from ..record.store import RecordFile
from ..record.summary import files_below, find_records
from ..text import one_line

_MAX_NAME = 1024
"""Maximum number of characters in a name."""


class NotServedError(QuizlogError):
    """No such file, or decision, is served."""


class Kind(NamedTuple):
    """A kind of file that can be asked for."""

    word: str
    """The word for it in messages."""
    endings: tuple[str, ...]
    """The suffixes of its files."""
    usual: str
    """Its file name inside a folder that is named instead."""


SCRIPT = Kind("script", (".py",), "quiz.py")
SHEET = Kind("record", (".yaml", ".yml", ".json"), "record.yaml")


@dataclass(frozen=True)
class Folders:
    """The served folders; see `served` and `served_record`."""

    roots: tuple[Path, ...]
    """The folders' absolute paths, without symbolic links."""
    only: Path | None = None
    """The one record that is served, without symbolic links; None if all are."""

    def find(self, kind: Kind, name: str) -> Path:
        """The file with a name, as a path without symbolic links.

        Raises:
            NotServedError: The folders have no such file, or the name leads out of them.
        """
        if self.only is not None and kind is SHEET and name in (self.only.name, self.only.stem):
            return self.only
        for root in self.roots if _is_plain(name) and self.only is None else ():
            for candidate in _candidates(kind, name):
                path = root / candidate
                if _is_plain_file(root, candidate):
                    return path
                found = self.inside(path)
                if found and found.suffix.lower() in kind.endings and found.is_file():
                    return found
        hint = "give its path in a served folder, such as `name` or `folder/name`"
        if self.only is not None:
            hint = f"only {one_line(self.only.name)} is"
        raise NotServedError(f"no such {kind.word} is served", where=name[:_MAX_NAME], hint=hint)

    def names(self, kind: Kind) -> Iterator[tuple[str, Path]]:
        """The files of a kind that clients can name: their names and paths, sorted within folders.

        Of scripts, those that look as if they asked something.
        """
        if self.only is not None:
            yield from [(self.only.name, self.only)] if kind is SHEET else ()
            return
        for root in self.roots:
            for path in find_records(root) if kind is SHEET else filter(asks, _scripts(root)):
                name = path.relative_to(root).as_posix()
                found = self.leads_to(kind, name)
                if found is not None and found == self.inside(path):  # not hidden by another's
                    yield name, path

    def leads_to(self, kind: Kind, name: str) -> Path | None:
        """The file that a name finds; None if it finds none."""
        try:
            return self.find(kind, name)
        except NotServedError:
            return None

    def inside(self, path: Path) -> Path | None:
        """A path with symbolic links resolved; None if it leads out of the folders."""
        try:
            real = Path(os.path.realpath(path))
        except (OSError, ValueError):
            return None
        return real if any(real.is_relative_to(root) for root in self.roots) else None

    def shown(self, text: str) -> str:
        """A text about files, with the paths of the served folders removed."""
        for root in self.roots:
            text = text.replace(f"{root}{os.sep}", "")
        return text


def served(folders: Iterable[Path]) -> Folders:
    """Check the folders to serve.

    Raises:
        UsageError: One of them is not a folder.
    """
    roots = tuple(Path(os.path.realpath(folder)) for folder in folders)
    for root in roots:
        if not root.is_dir():
            raise UsageError("is not a folder", where=str(root), hint="name one with --folder")
    return Folders(roots)


def served_record(path: Path) -> Folders:
    """The folders of one record and its script, of which nothing but the record can be named.

    Raises:
        RecordError: The record cannot be read.
    """
    real = Path(os.path.realpath(path))
    script = Path(os.path.realpath(real.parent / RecordFile(path).read().script))
    return Folders(tuple(dict.fromkeys((real.parent, script.parent))), real)


_MOST_READ = 1024 * 1024
"""Maximum number of bytes of a script that is looked through for questions."""
_ASKING = re.compile(rb"\binput\s*\(|\bstdin\b|\bgetpass\b|\bcmd\.Cmd\b")


def _scripts(root: Path) -> Iterator[Path]:
    return files_below(root, SCRIPT.endings)


def asks(script: Path) -> bool:
    """Whether a script looks as if it asked something."""
    try:
        return _ASKING.search(read_regular(script, _MOST_READ)) is not None
    except OSError:
        return False


def _is_plain(name: str) -> bool:
    """Whether a name is a relative path without `..` and hidden parts, valid on every system."""
    parts = name.split("/")
    return (
        len(name) <= _MAX_NAME
        and name.isprintable()
        and not any(character in name for character in "\\:")
        and all(part and not part.startswith(".") and len(part.encode()) < 250 for part in parts)
    )


def _is_plain_file(root: Path, name: str) -> bool:
    """Whether a name is a regular file, and neither the folder nor anything below it a link."""
    path, mode = os.fspath(root), 0
    try:
        for part in ("", *map("/{}".format, name.split("/"))):
            path += part
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                return False
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(mode)


def _candidates(kind: Kind, name: str) -> Iterator[str]:
    if name.endswith(kind.endings):
        yield name
    for ending in kind.endings:
        yield f"{name}{ending}"
    yield f"{name}/{kind.usual}"
