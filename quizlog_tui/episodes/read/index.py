"""An episodes file opened for looking: where each line is, and a head of it for a list.

Reads the file once, a moment at a time, and keeps a few bytes of each line, with the questions of
the first many for searching; a line itself is read when it is looked at. So the size of the file
does not matter. Judges no line; the checker does.
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
from typing import Any

from ...errors import EpisodeError
from .reading import MAX_LINE, LineError, parse

USUAL = "episodes/episodes.jsonl"
"""The file that is meant where none is named."""
_SLICE = 0.1
"""Seconds of reading between two drawings of what was found."""
_BUFFER = 2**20
_BEGINNING, _END = 2**12, 2**9
"""Bytes of a line that usually hold all of its head: from its beginning, and up to its end."""
_KEPT = 2**25
"""Characters of questions that are kept, so that a search need not read the file."""
_OURS = re.compile(
    rb'\{"episode_id": ?"[^"\\]*", ?"timestamp": ?"[^"\\]*", ?'
    rb'"verified": ?(true|false), ?"question": ?'
)
"""How a line begins whose keys are in the schema's order."""
_PLAIN = re.compile(rb'"question_text": ?"((?:[ !#-\[\]-~]|\\n)*)"')
"""A question in ASCII that needs no more than its newlines put in."""
_AGREED = b'"triangulation_metadata":'
_DECODER = json.JSONDecoder()

VERIFIED, UNVERIFIED, BROKEN = "verified", "not verified", "unreadable"
"""What a line can be, as far as it says so itself."""
STATES = (VERIFIED, UNVERIFIED, BROKEN)


@dataclass(frozen=True)
class Head:
    """What a list tells of a line."""

    state: str
    """One of `STATES`."""
    text: str = ""
    """The question; what is wrong, where the line is no episode."""
    difficulty: str = ""
    steps: int | None = None
    """Accepted answers of the gold run."""
    agreed: str = ""
    """Runs of the majority, of those that answered: `2/3`."""


class EpisodeFile:
    """The lines of a file, as far as they were found; must be closed.

    Args:
        path: The file.

    Raises:
        EpisodeError: There is no such file, or it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.exists() and not path.is_file():
                raise EpisodeError("is no file", where=str(path), hint="name an episodes file")
            self._file = open(path, "rb", buffering=_BUFFER)  # noqa: SIM115 - lives as long
        except FileNotFoundError:
            hint = "make one with `quizlog episodes build RECORD... -o FILE`"
            raise EpisodeError("there is no such file", where=str(path), hint=hint) from None
        except OSError as error:
            raise EpisodeError(f"cannot read: {error.strerror}", where=str(path)) from None
        self.size = os.fstat(self._file.fileno()).st_size
        self.done = 0
        """Bytes that were looked through."""
        self._seen = 0
        self._offsets, self._lengths, self._numbers = array("Q"), array("L"), array("L")
        self._states = bytearray()
        self._questions: list[str | None] = []
        """Those of the first lines, None where it takes long to know them; the rest is not kept."""
        self._room = _KEPT
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._states)

    def close(self) -> None:
        """Let go of the file; waits for a thread that still reads, which closing could crash."""
        with self._lock:
            self._file.close()

    def read_some(self) -> bool:
        """Find lines for a moment; whether there may be more. To be called in a thread.

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
        """How many of the lines found are in a state."""
        return self._states.count(STATES.index(state))

    def lines_in(self, state: str) -> array[int]:
        """The indexes of the lines found that are in a state."""
        wanted = STATES.index(state)
        return array("L", (at for at, one in enumerate(self._states) if one == wanted))

    def number(self, index: int) -> int:
        """The number of a line in the file, from 1."""
        return self._numbers[index]

    def length(self, index: int) -> int:
        """Bytes of a line."""
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
        """What a list tells of a line; reads its two ends, and all of it only if they do not do."""
        offset, length = self._offsets[index], self._lengths[index]
        try:
            beginning = self._bytes(offset, min(length, _BEGINNING))
            last = max(0, length - _END)
            found = _head_of_ends(beginning, self._bytes(offset + last, length - last))
            return found or _head_of(parse(self.line(index)))
        except LineError as error:
            return Head(BROKEN, str(error))

    def searched(self, index: int) -> str:
        """What a search looks through: number, state and question; much quicker than the head."""
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
    """The question that stands in the beginning of a line, if that is told at a glance."""
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
    """The head of a line from its ends; None where they do not hold it.

    A key in quotes cannot stand inside a text, whose quotes are escaped. Agreement counts only if
    the line ends with it: then it is the episode's own key.
    """
    ours, (_, agreed, after) = _OURS.match(beginning), end.rpartition(_AGREED)
    if not ours or not agreed:
        return None
    try:
        question, _ = _DECODER.raw_decode(beginning.decode("ascii"), ours.end())
        rest = after.decode("ascii").strip()
        told, last = _DECODER.raw_decode(rest)
    except (ValueError, RecursionError):
        return None
    if rest[last:] != "}":
        return None
    verified = ours[1] == b"true"
    return _head_of({"verified": verified, "question": question, "triangulation_metadata": told})


def _head_of(episode: dict[str, Any]) -> Head:
    verified, question = episode.get("verified"), episode.get("question")
    text = question.get("question_text") if isinstance(question, dict) else None
    if not isinstance(question, dict) or not isinstance(text, str) or type(verified) is not bool:
        return Head(BROKEN, "is no episode: it has no question, or does not say if it is verified")
    difficulty, steps = question.get("difficulty"), question.get("n_steps")
    return Head(
        VERIFIED if verified else UNVERIFIED,
        text,
        difficulty if isinstance(difficulty, str) else "",
        steps if type(steps) is int else None,
        _agreed(episode.get("triangulation_metadata")),
    )


def _agreed(told: object) -> str:
    if not isinstance(told, dict):
        return ""
    counts = [told.get(name) for name in ("majority_count", "n_consistency_succeeded")]
    return "{}/{}".format(*counts) if all(type(one) is int for one in counts) else ""


def episode_files(folder: Path) -> list[Path]:
    """The episodes files in a folder and the folders in it, by name; told by their first line."""
    try:
        found = sorted({*folder.glob("*.jsonl"), *folder.glob("*/*.jsonl")})
        return [path for path in found if path.is_file() and _begins_with_episode(path)]
    except OSError:
        return []


def _begins_with_episode(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return b'"episode_id"' in file.read(_BEGINNING)
    except OSError:
        return False
