"""What a list of records shows of each, read from its file without running the script.

There are two readers: `RecordFile.read` reads a small file whole, and of a big one in quizlog's own
layout a skim parses only the ends of the long lists. The summary of a record that cannot be read
says what is wrong; no content of a file makes this module raise.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import QuizlogError, RecordError
from ..files.regular_file import open_regular, read_regular
from ..text import clipped
from .feedback import Feedback, read_from
from .model import MAIN, STATUSES, Status
from .store import SUFFIXES, RecordFile
from .yaml_text import MAX_BYTES, parse, parse_own

_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})
_SKIM_FROM = 64 * 1024
"""Files below this size in bytes are read whole, which finds every error in them."""
_MOST_OF_ERROR = 200
"""Characters of an error's text that a summary has."""
_MOST_BYTES = 512 * 1024
"""A record of which more than this is left without its long lists has no preview."""


@dataclass(frozen=True)
class Summary:
    """The summary of one record."""

    path: Path
    """The file."""
    script: str | None = None
    """Path of the script, relative to the record."""
    status: Status | None = None
    """Recorded status at the pointer; None if the record cannot be read."""
    score: float | None = None
    """1 if the script finished, the partial score after an error, None while it asks."""
    used: int = 0
    """Number of answers before the pointer."""
    recorded: int = 0
    """Number of all answers of the active branch."""
    branches: int = 0
    """Number of branches that are not deleted, the active one included."""
    seed: int | None = None
    """The seed of all randomness in the script."""
    changed: float = 0.0
    """When the file was last written, in seconds since 1970; 0 if unknown."""
    problem: str | None = None
    """Why the record cannot be read, in one line; None if it can."""
    error: str | None = None
    """The start of the error's text; None without one."""

    @property
    def time(self) -> datetime:
        """When the file was last written."""
        return datetime.fromtimestamp(self.changed, UTC)

    def to_dict(self, name: str) -> dict[str, Any]:
        """Plain data for JSON; the record is called `name`."""
        return {
            "record": name,
            "script": self.script,
            "status": self.status,
            "score": self.score,
            "steps": self.used,
            "recorded": self.recorded,
            "branches": self.branches,
            "seed": self.seed,
            "changed": self.time.isoformat(),
            "problem": self.problem,
        }


def summary(path: Path) -> Summary:
    """The summary of the record at a path; never raises."""
    changed = 0.0
    try:
        info = path.stat()
        changed = info.st_mtime
        if not stat.S_ISREG(info.st_mode):
            return Summary(path, changed=changed, problem="is not a file")
        big = _SKIM_FROM <= info.st_size <= MAX_BYTES
        found = _skimmed(path, changed) if big else None
        return found or _read(path, changed)
    except QuizlogError as error:
        return Summary(path, changed=changed, problem=_problem(error, path))
    except OSError as error:
        return Summary(path, changed=changed, problem=f"cannot read: {error.strerror}")


def _problem(error: QuizlogError, path: Path) -> str:
    line = (error.where or "").removeprefix(str(path)).strip(":").split(":")[0]
    return f"line {line}: {error.message}" if line.isdigit() else error.message


def _read(path: Path, changed: float) -> Summary:
    record = RecordFile(path).read()
    error = record.last_error
    return Summary(
        path,
        record.script,
        record.status,
        record.score,
        record.pointer,
        len(record.inputs),
        len(record.names),
        record.seed,
        changed,
        error=None if error is None else clipped(error.message, _MOST_OF_ERROR),
    )


_LONG = re.compile(rb"^( *)(inputs|print|trail|who):\n((?:\1- .*+\n)++)", re.M)
_ENDS = 50
"""Items of a long list that a skim parses, its last ones."""


def _skimmed(path: Path, changed: float) -> Summary | None:
    """The summary of a record in quizlog's own layout, without parsing long lists; else None.

    13 times as fast as reading the record at 2,000 answers, 25 times at 20,000 (measured by
    `tests/bench/readers.py`).
    """
    text, recorded = _shortened(read_regular(path, MAX_BYTES))
    try:
        data = parse_own(text.decode("utf-8-sig"))
        return None if data is None else _skimmed_summary(path, changed, data, recorded)
    except (LookupError, ValueError, TypeError, AttributeError):  # data of other kinds
        return None


def _shortened(data: bytes) -> tuple[bytes, int]:
    """The bytes of a record with the ends of its long lists only, and the number of its answers.

    The lists of branches are left out.
    """
    answers = 0

    def shorten(found: re.Match[bytes]) -> bytes:
        nonlocal answers
        if found[1]:
            return b"%b%b: []\n" % (found[1], found[2])
        start, end = found.span(3)
        if found[2] == b"inputs":
            answers = data.count(b"\n", start, end)
        return b"%b:\n%b" % (found[2], data[_start_of_last(data, start, end) : end])

    return _LONG.sub(shorten, data), answers


def _start_of_last(data: bytes, start: int, end: int) -> int:
    """Where the last lines of a part begin."""
    at = end
    for _ in range(_ENDS + 1):
        at = data.rfind(b"\n", start, at)
        if at < 0:
            return start
    return at + 1


def _skimmed_summary(
    path: Path, changed: float, data: Mapping[str, Any], recorded: int
) -> Summary | None:
    """The summary from a record's data without its long lists; None if it is not sure."""
    script, seed, status, used = (data[key] for key in ("script", "seed", "status", "pointer"))
    sure = isinstance(script, str) and type(seed) is int and type(used) is int
    all_counted = len(data.get("inputs", ())) == min(recorded, _ENDS)
    if not sure or status not in STATUSES or not all_counted or not 0 <= used <= recorded:
        return None
    branches, active = data.get("branches", {}), data.get("branch", MAIN)
    shown = {name for name, entry in branches.items() if entry.get("deleted") is None}
    score = {"in_progress": None, "success": 1.0, "error": _error_score(data)}[status]
    count = len(shown | {active})
    error = _error_start(data)
    return Summary(path, script, status, score, used, recorded, count, seed, changed, error=error)


def _error_score(data: Mapping[str, Any]) -> float | None:
    error = data.get("last_error")
    return None if error is None else float(error.get("score", 0))


def _error_start(data: Mapping[str, Any]) -> str | None:
    error = data.get("last_error")
    return None if error is None else clipped(str(error["message"]), _MOST_OF_ERROR)


@dataclass(frozen=True)
class Preview:
    """The present state of a record, as far as its file tells it."""

    question: str | None = None
    """The pending question; None if there is none, or it is not recorded."""
    error: str | None = None
    """The text of the last error."""
    line: int | None = None
    """The line of the script that raised it."""
    printed: tuple[str, ...] = ()
    """What was printed last."""
    notes: tuple[Feedback, ...] = ()
    """The remarks, in their order."""
    scores: tuple[float, ...] = ()
    """The scores of the branches, oldest first."""


def preview(one: Summary) -> Preview:
    """The preview of a record; empty if it cannot be read or is too big. Never raises."""
    try:
        data = read_regular(one.path, MAX_BYTES)
        if len(data) >= _SKIM_FROM:
            data, _ = _shortened(data)
            if len(data) > _MOST_BYTES:
                return Preview()
        text = data.decode("utf-8-sig")
        found = parse_own(text)
        return _preview(one, parse(text, str(one.path))[0] if found is None else found)
    except (OSError, RecordError, ValueError, RecursionError):
        return Preview()


def _preview(one: Summary, data: object) -> Preview:
    if not isinstance(data, Mapping):
        return Preview()
    error = data.get("last_error")
    error = error if isinstance(error, Mapping) else {}
    message, line = error.get("message"), error.get("line")
    return Preview(
        _question(one, data),
        message if isinstance(message, str) else None,
        line if isinstance(line, int) else None,
        tuple(each for each in _items(data, "print")[-_ENDS:] if isinstance(each, str)),
        tuple(read_from(data)),
        tuple(_scores(one, data)),
    )


def _items(data: Mapping[Any, Any], key: str) -> list[Any]:
    found = data.get(key)
    return found if isinstance(found, list) else []


def _question(one: Summary, data: Mapping[Any, Any]) -> str | None:
    """The question at the pointer, from the fingerprint of that stop, counted from the end."""
    trail, from_end = _items(data, "trail"), one.recorded - one.used + 1
    if one.status != "in_progress" or len(trail) < from_end:
        return None
    _, space, question = str(trail[-from_end]).partition(" ")
    return question if space else None


def _scores(one: Summary, data: Mapping[Any, Any]) -> Iterator[float]:
    branches = data.get("branches")
    for branch in branches.values() if isinstance(branches, Mapping) else ():
        score = branch.get("score") if isinstance(branch, Mapping) else None
        if isinstance(score, int | float) and 0 <= score <= 1:
            yield float(score)
    if one.score is not None:
        yield one.score


def find_records(folder: Path) -> Iterator[Path]:
    """The files below a folder that look like records; see `files_below`."""
    return filter(_looks_like_record, files_below(folder, SUFFIXES))


def files_below(folder: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """The files below a folder with one of several suffixes, sorted within each folder.

    Hidden folders and folders of installed packages are skipped, and so is what cannot be read.
    Links to folders are followed; each real folder is visited once.
    """
    seen: set[tuple[int, int]] = set()
    todo = [folder]
    while todo:
        folder = todo.pop()
        try:
            info = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        if (info.st_dev, info.st_ino) in seen:
            continue
        seen.add((info.st_dev, info.st_ino))
        folders = []
        for entry in entries:
            if _is_folder(entry):
                folders.append(folder / entry.name)
            elif entry.name.endswith(endings):
                yield folder / entry.name
        todo += reversed(folders)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or entry.name in _SKIPPED:
        return False
    try:
        return entry.is_dir()
    except OSError:
        return False


_RESULT = re.compile(rb'^ ?"?branch"?: .*\n ?"?status"?: ', re.M)


def _looks_like_record(path: Path) -> bool:
    """Whether the start of the file names a script and a seed, and is not that of a result file.

    So does a file of which that cannot be known: it cannot be read, or is not text.
    """
    try:
        if not path.is_file():
            return False
        with open_regular(path) as file:
            start = file.read(4096)
    except OSError:
        return True
    if b"\0" in start or not _is_utf8(start):
        return True
    return b"script" in start and b"seed" in start and not _RESULT.search(start)


def _is_utf8(start: bytes) -> bool:
    """Whether the start of a file is UTF-8; its last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return True
