"""Which file a client means: names are looked up in the served folders, and nowhere else.

A name is a relative path in such a folder, its ending left out or not, or a folder with a
questionnaire in it. Links are followed first and judged by where they lead.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import QuizlogError, UsageError

MAX_NAME = 1024
"""Characters of a name."""


class NotServedError(QuizlogError):
    """There is no such file in the served folders."""


class Kind(NamedTuple):
    """A kind of file that can be asked for."""

    word: str
    """What users call it."""
    endings: tuple[str, ...]
    """Endings of its files' names."""
    usual: str
    """Its name in a folder of its own."""


SCRIPT = Kind("script", (".py",), "quiz.py")
SHEET = Kind("record", (".yaml", ".yml", ".json"), "record.yaml")


@dataclass(frozen=True)
class Folders:
    """The served folders; see `served`."""

    roots: tuple[Path, ...]
    """Absolute, without links."""

    def find(self, kind: Kind, name: str) -> Path:
        """The file of a name, without links.

        Raises:
            NotServedError: The folders hold none, or the name leads out of them.
        """
        for root in self.roots if _is_plain(name) else ():
            for candidate in _candidates(kind, name):
                found = self.inside(root / candidate)
                if found and found.suffix.lower() in kind.endings and found.is_file():
                    return found
        hint = "name it as it lies in a served folder, as `name` or `folder/name`"
        raise NotServedError(f"no such {kind.word} is served", where=name[:MAX_NAME], hint=hint)

    def inside(self, path: Path) -> Path | None:
        """Where a path leads once links are followed; None if that is out of the folders."""
        try:
            real = Path(os.path.realpath(path))
        except (OSError, ValueError):
            return None
        return real if any(real.is_relative_to(root) for root in self.roots) else None

    def shown(self, text: str) -> str:
        """A text about files, without where on this machine the folders are."""
        for root in self.roots:
            text = text.replace(f"{root}{os.sep}", "")
        return text


def served(folders: Iterable[Path]) -> Folders:
    """The folders, checked.

    Raises:
        UsageError: One is no folder.
    """
    roots = tuple(Path(os.path.realpath(folder)) for folder in folders)
    for root in roots:
        if not root.is_dir():
            raise UsageError("is not a folder", where=str(root), hint="name one with --folder")
    return Folders(roots)


def _is_plain(name: str) -> bool:
    """Whether a name is a relative path downwards to nothing hidden, the same on every system."""
    parts = name.split("/")
    return (
        len(name) <= MAX_NAME
        and name.isprintable()
        and not any(character in name for character in "\\:")
        and all(part and not part.startswith(".") and len(part.encode()) < 250 for part in parts)
    )


def _candidates(kind: Kind, name: str) -> Iterator[str]:
    if name.endswith(kind.endings):
        yield name
    for ending in kind.endings:
        yield f"{name}{ending}"
    yield f"{name}/{kind.usual}"
