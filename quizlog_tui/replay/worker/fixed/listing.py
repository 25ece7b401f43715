"""Lets folders list their entries in the order of their names."""

from __future__ import annotations

import os
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install() -> None:
    """Replace `listdir` and `scandir`, which `glob`, `walk` and `pathlib` use too."""
    plain_list, plain_scan = os.listdir, os.scandir

    def listdir(path: Any = None) -> list[Any]:
        return sorted(plain_list(path))

    def scandir(path: Any = None) -> Entries:
        with plain_scan(path) as entries:
            return Entries(sorted(entries, key=_name))

    os.listdir, os.scandir = listdir, scandir  # type: ignore[assignment]


def _name(entry: Any) -> Any:
    return entry.name


class Entries:
    """The result of `scandir`: an iterator that can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._rest: Iterator[Any] = iter(entries)

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> Any:
        return next(self._rest)

    def __enter__(self) -> Entries:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        self._rest = iter(())
