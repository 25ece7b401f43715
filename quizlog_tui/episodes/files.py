"""Writing files of lines: whole or not at all, one line at a time, so that size does not matter."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import EpisodeError
from ..record.store import locked
from .lines import to_line
from .needed import unusable_at
from .reading import LineError, lines, parse


def write_lines(path: Path, texts: Iterable[str]) -> int:
    """Write a file of lines through a temporary file; how many there are.

    Raises:
        EpisodeError: It cannot be written; what stood there stays.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            count = _write(temporary, texts)
            os.replace(temporary, path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
    except OSError as error:
        hint = "choose another place with -o, or make this one writable"
        message = f"cannot write: {error.strerror}"
        raise EpisodeError(message, where=str(path), hint=hint) from None
    return count


def _write(path: Path, texts: Iterable[str]) -> int:
    count = 0
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for text in texts:
            file.write(f"{text}\n")
            count += 1
        file.flush()
        os.fsync(file.fileno())
    return count


class Put(NamedTuple):
    """What became of episodes that were put into a file."""

    added: int
    """Those it did not have."""
    known: int
    """Those it had, written anew."""
    lowered: int
    """Those of them that were verified before and are no longer."""


def put_episodes(path: Path, episodes: Iterable[dict[str, Any]]) -> Put:
    """Put episodes into a file that may exist: known ids are replaced, the rest stays or is added.

    Raises:
        EpisodeError: The file cannot be read or written, or holds a line that is no episode;
            nothing was changed.
        LockedError: Another process writes it.
    """
    new = {episode["episode_id"]: episode for episode in episodes}
    lowered: list[str] = []
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EpisodeError(f"cannot write: {error.strerror}", where=str(path)) from None
    with locked(path):
        count, before = len(new), 0
        if path.exists():
            before = sum(1 for _ in lines(path))
        total = write_lines(path, _merged(path, new, lowered))
    return Put(total - before, count - (total - before), len(lowered))


def _merged(path: Path, new: dict[str, dict[str, Any]], lowered: list[str]) -> Iterator[str]:
    if path.exists():
        for number, line in lines(path):
            old = _known(line, f"{path}:{number}")
            name = str(old.get("episode_id"))
            fresh = new.pop(name, None)
            if fresh is not None and old.get("verified") is True and not fresh["verified"]:
                lowered.append(name)
            yield line.decode("utf-8") if fresh is None else to_line(fresh)
    yield from map(to_line, new.values())


def _known(line: bytes, where: str) -> dict[str, Any]:
    try:
        return parse(line)
    except LineError as error:
        hint = "mend or remove that line, or choose another file with -o"
        raise EpisodeError(str(error), where=where, hint=hint) from None


def read_episodes(
    path: Path, advanced: Callable[[int], None] | None = None
) -> Iterator[dict[str, Any]]:
    """Every episode of a file.

    Args:
        path: The file.
        advanced: Told how many bytes were read, after each line.

    Raises:
        EpisodeError: The file cannot be read, or a line is no episode.
    """
    for number, line in lines(path, advanced):
        try:
            episode = parse(line)
        except LineError as error:
            raise _unusable(str(error), f"{path}:{number}") from None
        lacking = unusable_at(episode)
        if lacking is not None:
            raise _unusable(f"{lacking} is missing, or is of another type", f"{path}:{number}")
        yield episode


def _unusable(message: str, where: str) -> EpisodeError:
    hint = "`quizlog episodes check FILE` tells more; `upgrade` mends older forms"
    return EpisodeError(message, where=where, hint=hint)
