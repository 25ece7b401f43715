"""What lies around a script: files left over from earlier runs, files it names, another place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..replay.script.needed_files import needed_files
from ..replay.script.source import Source
from ..replay.transcript import Transcript

_MOST_NAMES = 5
"""Files beyond which a sentence names no more."""


def left_over(run: Transcript, folder: Path, how: str = "file") -> Iterator[str]:
    """Files that the script writes and that lie in the user's folder all the same.

    Args:
        run: What it did.
        folder: Its folder.
        how: "file" for those it wrote before it read them. "update" for those it read first, as it
            does data that belong to it: one that is left over looks the same.
    """
    for name in run.observed:
        kind, _, path = name.partition(" ")
        if kind == how and (folder / path).is_file():
            yield path


def named_files(source: Source) -> str:
    """The modules and data files that a script's text names, in brackets."""
    folder = source.path.parent
    names = [path.relative_to(folder).as_posix() for path in needed_files(source)]
    shown = [*names[:_MOST_NAMES], *(["..."] if names[_MOST_NAMES:] else [])]
    return f" ({', '.join(shown)})" if shown else ""


@contextmanager
def elsewhere(folder: Path) -> Iterator[str]:
    """Another path for a folder, of another length."""
    from ..files.scratch import scratch_folder

    with scratch_folder("verify") as base:
        other = base / f"elsewhere-{folder.name}"
        other.mkdir()
        yield str(other)
