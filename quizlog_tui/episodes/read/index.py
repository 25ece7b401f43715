"""An index of an episodes file for browsing: the place and a summary of each line.

The file is read once, in short portions. The index keeps a few bytes per line, and the questions of
the first lines for searching; a line is read again when it is shown. So the file may have any size.
Lines are not checked here.
"""

from __future__ import annotations

import json
import os
import re
import time
from array import array
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

from ...errors import EpisodeError
from ...files.regular_file import open_regular
from .files import MAX_LINE, LineError, parse

USUAL = "episodes/episodes.jsonl"
"""The default file."""
_SLICE = 0.1
"""Seconds of reading in one portion."""
_BUFFER = 2**20
_BEGINNING, _END = 2**12, 2**9
"""Bytes at the beginning and at the end of a line that usually contain its whole summary."""
_KEPT = 2**25
"""Maximum number of characters of questions kept, so that searching need not read the file."""
_OURS = re.compile(
    rb'\{"episode_id": ?"[^"\\]*", ?"timestamp": ?"[^"\\]*", ?'
    rb'"verified": ?(true|false), ?"question": ?'
)
"""The beginning of a line whose keys are in the schema's order."""
_PLAIN = re.compile(rb'"question_text": ?"((?:[ !#-\[\]-~]|\\n)*)"')
"""A question in ASCII with no escapes but newlines."""
_AGREED = b'"triangulation_metadata":'
_DECODER = json.JSONDecoder()

VERIFIED, UNVERIFIED, BROKEN = "verified", "not verified", "unreadable"
"""The states of a line, by its own claim."""
STATES = (VERIFIED, UNVERIFIED, BROKEN)


@dataclass(frozen=True)
class Head:
    """The summary of a line in a list."""

    state: str
    """One of `STATES`."""
    text: str = ""
    """The question; or the fault if the line is not an episode."""
    difficulty: str = ""
    steps: int | None = None
    """Number of accepted answers of the gold run."""
    agreed: str = ""
    """Number of runs in the majority and of runs that answered, such as `2/3`."""


class EpisodeFile:
    """The lines of a file that were found so far. Must be closed.

    Raises:
        EpisodeError: There is no such file, or it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.exists() and not path.is_file():
                raise EpisodeError("is not a file", where=str(path), hint="name an episodes file")
            self._file = open(path, "rb", buffering=_BUFFER)  # noqa: SIM115 - lives as long
        except FileNotFoundError:
            hint = "make one with `quizlog episodes build RECORD... -o FILE`"
            raise EpisodeError("there is no such file", where=str(path), hint=hint) from None
        except OSError as error:
            raise EpisodeError(f"cannot read: {error.strerror}", where=str(path)) from None
        self.size = os.fstat(self._file.fileno()).st_size
        self.done = 0
        """Number of bytes read."""
        self._seen = 0
        self._offsets, self._lengths, self._numbers = array("Q"), array("L"), array("L")
        self._states = bytearray()
        self._questions: list[str | None] = []
        """The questions of the first lines; None for those that need slow parsing."""
        self._room = _KEPT
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._states)

    def close(self) -> None:
        """Close the file, after waiting for a thread that still reads it."""
        with self._lock:
            self._file.close()

    def read_some(self) -> bool:
        """Read a portion of lines; return whether there may be more. Call it in a thread.

        Raises:
            EpisodeError: The file cannot be read, or a line is far too long.
        """
        until = time.monotonic() + _SLICE
        try:
            with self._lock:  # a thread that nobody waits for any more may still be at it
                if self._file.closed:
                    return False
                for line in iter(partial(self._file.readline, MAX_LINE), b""):
                    self._take(line)
                    if time.monotonic() > until:
                        return True
        except OSError as error:
            where = str(self.path)
            raise EpisodeError(f"cannot read: {error.strerror}", where=where) from None
        return False

    def _take(self, line: bytes) -> None:
        self._seen += 1
        if len(line) == MAX_LINE:
            message, hint = f"is longer than {MAX_LINE // 2**20} MB", "each line holds one episode"
            raise EpisodeError(message, where=f"{self.path}:{self._seen}", hint=hint)
        if line.strip():
            self._offsets.append(self.done)
            self._lengths.append(len(line))
            self._numbers.append(self._seen)
            self._states.append(STATES.index(_state(line)))
            self._keep(line)
        self.done += len(line)

    def _keep(self, line: bytes) -> None:
        if self._room > 0:
            question = _plain_question(line)
            self._questions.append(question)
            self._room -= 1 + len(question or "")

    def count(self, state: str) -> int:
        """The number of lines found in a state."""
        return self._states.count(STATES.index(state))

    def lines_in(self, state: str) -> array[int]:
        """The indexes of the lines found in a state."""
        wanted = STATES.index(state)
        return array("L", (at for at, each in enumerate(self._states) if each == wanted))

    def number(self, index: int) -> int:
        """The number of a line in the file, from 1."""
        return self._numbers[index]

    def length(self, index: int) -> int:
        """The size of a line in bytes."""
        return self._lengths[index]

    def line(self, index: int) -> bytes:
        """A line, read from the file."""
        return self._bytes(self._offsets[index], self._lengths[index]).strip()

    def _bytes(self, offset: int, count: int) -> bytes:
        try:
            return os.pread(self._file.fileno(), count, offset)
        except (OSError, ValueError):  # closed, or gone: shown like what was cut off
            return b""

    def head(self, index: int) -> Head:
        """The summary of a line; reads its two ends, and all of it only if necessary."""
        offset, length = self._offsets[index], self._lengths[index]
        try:
            beginning = self._bytes(offset, min(length, _BEGINNING))
            last = max(0, length - _END)
            found = _head_of_ends(beginning, self._bytes(offset + last, length - last))
            return found or _head_of(parse(self.line(index)))
        except LineError as error:
            return Head(BROKEN, str(error))

    def searched(self, index: int) -> str:
        """The text that a search examines: number, state and question; much faster than `head`."""
        return f"{self._numbers[index]} {STATES[self._states[index]]} {self._question(index)}"

    def _question(self, index: int) -> str:
        kept = index < len(self._questions)
        found = self._questions[index] if kept else self._read_question(index)
        if found is None:
            found = self._questions[index] = self._read_question(index)
            self._room -= len(found)
        return found

    def _read_question(self, index: int) -> str:
        beginning = self._bytes(self._offsets[index], min(self._lengths[index], _BEGINNING))
        plain = _plain_question(beginning)
        return self.head(index).text if plain is None else plain


def _plain_question(line: bytes) -> str | None:
    """The question at the beginning of a line, if it needs no parsing."""
    plain = _PLAIN.search(line, 0, _BEGINNING)
    return plain[1].replace(b"\\n", b"\n").decode() if plain else None


def _state(line: bytes) -> str:
    ours = _OURS.match(line)
    if ours:
        return VERIFIED if ours[1] == b"true" else UNVERIFIED
    try:
        return _head_of(parse(line.strip())).state
    except LineError:
        return BROKEN


def _head_of_ends(beginning: bytes, end: bytes) -> Head | None:
    """The summary of a line from its two ends; None if they do not contain it.

    A key in quotes cannot occur inside a text, whose quotes are escaped. `triangulation_metadata`
    must end the line: only then is it the episode's own key.
    """
    ours, (_, agreed, after) = _OURS.match(beginning), end.rpartition(_AGREED)
    if not ours or not agreed:
        return None
    try:
        question, _ = _DECODER.raw_decode(beginning.decode("ascii"), ours.end())
        rest = after.decode("ascii").strip()
        agreement, last = _DECODER.raw_decode(rest)
    except (ValueError, RecursionError):
        return None
    if rest[last:] != "}":
        return None
    verified = ours[1] == b"true"
    return _head_of(
        {"verified": verified, "question": question, "triangulation_metadata": agreement}
    )


def _head_of(episode: dict[str, object]) -> Head:
    verified, question = episode.get("verified"), episode.get("question")
    text = question.get("question_text") if isinstance(question, dict) else None
    if not isinstance(question, dict) or not isinstance(text, str) or type(verified) is not bool:
        return Head(BROKEN, "is not an episode: `question` or `verified` is missing")
    difficulty, steps = question.get("difficulty"), question.get("n_steps")
    return Head(
        VERIFIED if verified else UNVERIFIED,
        text,
        difficulty if isinstance(difficulty, str) else "",
        steps if type(steps) is int else None,
        _agreed(episode.get("triangulation_metadata")),
    )


def _agreed(agreement: object) -> str:
    if not isinstance(agreement, dict):
        return ""
    counts = [agreement.get(name) for name in ("majority_count", "n_consistency_succeeded")]
    return "{}/{}".format(*counts) if all(type(one) is int for one in counts) else ""


def episode_files(folder: Path) -> list[Path]:
    """The episodes files in a folder and its subfolders, recognised by their first line."""
    try:
        found = sorted({*folder.glob("*.jsonl"), *folder.glob("*/*.jsonl")})
        return [path for path in found if _begins_with_episode(path)]
    except OSError:
        return []


def _begins_with_episode(path: Path) -> bool:
    try:
        with open_regular(path) as file:
            return b'"episode_id"' in file.read(_BEGINNING)
    except OSError:
        return False
