"""The summary of a record that a library shows, read from the file without running the script.

The summary of an unreadable record says what is wrong; no file content makes this module raise. A
big record in quizlog's own layout is not parsed, as the places of its values are known.

What a record shows beside a list: its last lines, its error, its notes. Nothing is run.

Of a big record's long lists only the ends are parsed.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..errors import QuizlogError, RecordError
from ..files.regular_file import open_regular, read_regular
from .feedback import Feedback, read_from
from .model import Status
from .store import SUFFIXES, RecordFile
from .yaml_text import MAX_BYTES, parse, parse_own

_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})
_SKIM_FROM = 64 * 1024
"""Files below this size in bytes are parsed, which finds every error in them."""


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
    )


_HEAD = re.compile(
    rb'script: ("[^\n]*")\n(?:output: "[^\n]*"\n)?seed: (-?\d{1,30})\n'
    rb'status: "(in_progress|success|error)"\n(?:code_hash: "[^\n]*"\n)?inputs:(?: \[\])?\n'
)
_POINTER = re.compile(rb"\npointer: (\d{1,12})\nprint:")
_BRANCHES = re.compile(rb"\nbranches:(\n.*?\n)(?=[^ \n]|\Z)", re.S)
_ERROR = re.compile(rb"\nlast_error:\n(?:  .*\n)*?  score: ([0-9.eE+-]{1,30})\n")
_ACTIVE = re.compile(rb'\nbranch: ("[^\n]*")\n')
_ENTRY = re.compile(rb'^  (?! )(.+):$|^    (deleted): ".*"$', re.M)


def _skimmed(path: Path, changed: float) -> Summary | None:
    """The summary of a record in quizlog's own layout, without parsing long lists; else None.

    13 times as fast as reading the record at 2,000 answers, 23 times at 20,000 (measured by
    `tests/bench/readers.py`).
    """
    with open_regular(path) as file:
        data = file.read(MAX_BYTES)
    head = _HEAD.match(data)
    end = data.find(b"\npointer: ", head.end() - 1) if head else -1
    pointer = _POINTER.match(data, end) if end >= 0 else None
    if head is None or pointer is None:
        return None
    recorded = data.count(b"\n- ", head.end() - 1, end)
    if int(pointer[1]) > recorded:
        return None
    with contextlib.suppress(ValueError):
        return Summary(
            path,
            json.loads(head[1]),
            status := cast(Status, head[3].decode()),
            _skimmed_score(data, pointer.end(), status),
            int(pointer[1]),
            recorded,
            _skimmed_branches(data, pointer.end()),
            int(head[2]),
            changed,
        )
    return None


def _found(pattern: re.Pattern[bytes], key: bytes, data: bytes, start: int) -> bytes | None:
    """The pattern's first group at a top-level key, which is located by a plain search first."""
    at = data.find(b"\n" + key + b":", start)
    match = pattern.match(data, at) if at >= 0 else None
    return match[1] if match else None


def _skimmed_score(data: bytes, start: int, status: Status) -> float | None:
    if status != "error":
        return 1.0 if status == "success" else None
    score = _found(_ERROR, b"last_error", data, start)
    return float(score) if score else None


def _skimmed_branches(data: bytes, start: int) -> int:
    """The number of branches that are not deleted, the active one included."""
    hidden: dict[str, bool] = {}
    for name, deleted in _ENTRY.findall(_found(_BRANCHES, b"branches", data, start) or b""):
        if deleted:
            hidden[next(reversed(hidden))] = True
        else:
            hidden[json.loads(name) if name.startswith(b'"') else name.decode()] = False
    active = json.loads(_found(_ACTIVE, b"branch", data, start) or b'"main"')
    return list((hidden | {active: False}).values()).count(False)


def find_records(folder: Path) -> Iterator[Path]:
    """The files below a folder that look like records, sorted within each folder.

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
            elif entry.name.endswith(SUFFIXES) and _looks_like_record(folder / entry.name):
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


_ENDS = 50
"""Items of a long list that are parsed, its last ones."""
_MOST_BYTES = 512 * 1024
"""A record of which more than this is left without its long lists is not parsed."""
_SHORT = 64 * 1024
"""Records below this size in bytes are parsed whole."""


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
        text = _without_long_lists(data).decode("utf-8-sig") if len(data) > _SHORT else None
        if text is not None and len(text) > _MOST_BYTES:
            return Preview()
        text = data.decode("utf-8-sig") if text is None else text
        found = parse_own(text)
        return _preview(one, parse(text, str(one.path))[0] if found is None else found)
    except (OSError, RecordError, ValueError, RecursionError):
        return Preview()


_LONG = re.compile(rb"^(inputs|print|trail|who):\n((?:- .*\n)+)", re.M)


def _without_long_lists(data: bytes) -> bytes:
    """The bytes of a record with only the last items of its long lists."""
    return _LONG.sub(lambda found: found[1] + b":\n" + _last_lines(found[2]), data)


def _last_lines(lines: bytes) -> bytes:
    end = len(lines)
    for _ in range(_ENDS + 1):
        end = lines.rfind(b"\n", 0, max(end, 0))
        if end < 0:
            return lines
    return lines[end + 1 :]


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
