"""Writing files of lines: whole or not at all, one line at a time, so that size does not matter."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import EpisodeError
from ..record.store import locked
from .lines import to_line
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
        hint = "make the folder writable, or choose another file with -o"
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


def put_episodes(path: Path, episodes: Iterable[dict[str, Any]]) -> tuple[int, int]:
    """Put episodes into a file that may exist: known ids are replaced, the rest stays or is added.

    Returns:
        How many were added, and how many stood there already.

    Raises:
        EpisodeError: The file cannot be read or written, or holds a line that is no episode;
            nothing was changed.
        LockedError: Another process writes it.
    """
    new = {episode["episode_id"]: to_line(episode) for episode in episodes}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EpisodeError(f"cannot write: {error.strerror}", where=str(path)) from None
    with locked(path):
        count, before = len(new), 0
        if path.exists():
            before = sum(1 for _ in lines(path))
        total = write_lines(path, _merged(path, new))
    return total - before, count - (total - before)


def _merged(path: Path, new: dict[str, str]) -> Iterator[str]:
    if path.exists():
        for number, line in lines(path):
            yield new.pop(_id(line, f"{path}:{number}"), "") or line.decode("utf-8")
    yield from new.values()


def _id(line: bytes, where: str) -> str:
    try:
        return str(parse(line).get("episode_id"))
    except LineError as error:
        hint = "mend or remove that line, or choose another file with -o"
        raise EpisodeError(str(error), where=where, hint=hint) from None


def read_episodes(path: Path) -> Iterator[dict[str, Any]]:
    """Every episode of a file.

    Raises:
        EpisodeError: The file cannot be read, or a line is no episode.
    """
    for number, line in lines(path):
        try:
            episode = parse(line)
            _needed(episode)
        except LineError as error:
            raise _unusable(str(error), f"{path}:{number}") from None
        except (KeyError, TypeError) as error:
            raise _unusable(f"is no episode: {error} is missing", f"{path}:{number}") from None
        yield episode


def _unusable(message: str, where: str) -> EpisodeError:
    return EpisodeError(message, where=where, hint="see `quizlog episodes check FILE`")


def _needed(episode: dict[str, Any]) -> None:
    """Look at what every use of an episode needs."""
    for path in ("episode_id", "verified", "question.id", "question.question_text"):
        part: Any = episode
        for key in path.split("."):
            part = part[key]
    for name in ("teacher_gold_trace", "conversation_for_sft", "rl_verification_data"):
        dict(episode[name])
    list(episode["consistency_traces"])
