"""Reads and writes files of lines of any size, one line at a time; writes are atomic."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import EpisodeError, RecordError
from ...files.place import FileKind, asked_before, check_place
from ..format.shape import UsableEpisode, unusable_at
from .reading import LineError, lines, parse

if TYPE_CHECKING:
    from ..format.hashing import JsonObject


def _first_line(path: Path) -> JsonObject:
    """The object on the first line that is not blank; empty if there is none."""
    with contextlib.suppress(EpisodeError, LineError):
        for _, line in lines(path):
            return parse(line)
    return {}


def _has_row(path: Path) -> bool:
    return bool(_first_line(path))


def _has_episode(path: Path) -> bool:
    return "episode_id" in _first_line(path)


EPISODES = FileKind("a file of episodes", _has_episode)
ROWS = FileKind("a file of rows", asked_before)
"""An export, or episodes of another version, under a name that the user gave."""
INNER_ROWS = FileKind("a file of rows", _has_row)
"""The same inside a folder that the user named."""


def write_lines(path: Path, texts: Iterable[str], kind: FileKind = EPISODES) -> int:
    """Write a file of lines atomically; return their number.

    Raises:
        EpisodeError: It may not be made there, or cannot be written; what was there is unchanged.
    """
    refuse_place(path, kind)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
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
        message = f"cannot write: {error.strerror or error}"
        raise EpisodeError(message, where=str(path), hint=hint) from None
    return count


def refuse_place(path: Path, kind: FileKind = EPISODES) -> None:
    """Raise an `EpisodeError` if a file of lines may not be made at a path."""
    try:
        check_place(path, kind)
    except RecordError as error:
        raise EpisodeError(error.message, where=error.where, hint=error.hint) from None
    if path.is_dir():
        raise EpisodeError("is a folder", where=str(path), hint="name a file with -o")


def _write(path: Path, texts: Iterable[str]) -> int:
    count = 0
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    with open(fd, "w", encoding="utf-8", newline="\n") as file:
        for text in texts:
            file.write(f"{text}\n")
            count += 1
        file.flush()
        os.fsync(file.fileno())
    return count


def read_episodes(
    path: Path, advanced: Callable[[int], None] | None = None
) -> Iterator[UsableEpisode]:
    """Every episode of a file.

    Args:
        path: The file.
        advanced: Called after each line with the number of bytes read.

    Raises:
        EpisodeError: The file cannot be read, or a line is not an episode.
    """
    for number, line in lines(path, advanced):
        try:
            episode = parse(line)
        except LineError as error:
            raise _unusable(str(error), f"{path}:{number}") from None
        lacking = unusable_at(episode)
        if lacking is not None:
            raise _unusable(f"{lacking} is missing, or has the wrong type", f"{path}:{number}")
        yield episode


def _unusable(message: str, where: str) -> EpisodeError:
    hint = "`quizlog episodes check FILE` shows more; `upgrade` converts older versions"
    return EpisodeError(message, where=where, hint=hint)
