"""Reads and writes files of episodes and rows of any size, one line at a time.

Lines are numbered strict JSON, and memory is limited. `read_episodes` checks that each episode has
the parts that counting and exporting need, so that a broken file gives a clear error; the checker
tests much more. Writes are atomic.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, TypeAlias

from ...errors import EpisodeError, RecordError
from ...files.durable import FileKind, asked_before, check_place
from ..format.hashing import MAX_DEPTH, JsonObject, is_unicode

if TYPE_CHECKING:
    _Form: TypeAlias = type | tuple[type, ...] | list["_Form"] | dict[str, "_Form"]

_BUFFER = 2**20
MAX_LINE = 256 * 1024 * 1024
"""Maximum size of a line in bytes."""


class LineError(ValueError):
    """A line is not a strict JSON object: a short name of the fault, and what is wrong."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def lines(path: Path, advanced: Callable[[int], None] | None = None) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with its number from 1 and without its newline.

    `advanced` gets the number of bytes read after each line.

    Raises:
        EpisodeError: The file cannot be read, or a line is far too long.
    """
    try:
        with open(path, "rb", buffering=_BUFFER) as file:
            done = 0
            for number, line in enumerate(iter(partial(file.readline, MAX_LINE), b""), 1):
                if len(line) == MAX_LINE:
                    message = f"is longer than {MAX_LINE // 2**20} MB"
                    raise EpisodeError(message, where=f"{path}:{number}", hint=_HINT)
                done += len(line)
                stripped = line.strip()
                if stripped:
                    yield number, stripped
                if advanced:
                    advanced(done)
    except FileNotFoundError:
        raise EpisodeError("there is no such file", where=str(path), hint=_BUILD) from None
    except OSError as error:
        raise EpisodeError(f"cannot read: {error.strerror}", where=str(path)) from None


_HINT = "an episodes file holds one JSON object per line"
_BUILD = "make one with `quizlog episodes build RECORD... -o FILE`"


def parse(line: bytes) -> JsonObject:
    """The JSON object on a line.

    Raises:
        LineError: The line is not a JSON object, repeats a key, is nested too deep, or contains
            NaN, an infinity or a lone surrogate.
    """
    if line.startswith(BOM_UTF8):
        raise LineError("bom", "begins with a byte order mark: save the file as UTF-8 without one")
    try:
        data = _DECODER.decode(line.decode("utf-8"))
    except LineError:
        raise
    except UnicodeDecodeError as error:
        raise LineError("not-utf8", f"is not UTF-8 text, at byte {error.start}") from None
    except RecursionError:
        raise LineError("too-deep", _DEEP) from None
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg}, at character {error.pos + 1}"
        raise LineError("bad-json", message) from None
    except ValueError as error:
        raise LineError("bad-json", f"is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise LineError("not-an-object", f"is a JSON {type(data).__name__}, not an object")
    _check_readable(data, line)
    return data


def _check_readable(data: JsonObject, line: bytes) -> None:
    """Refuse what JSON allows but other readers do not accept."""
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and _is_deep(data):
        raise LineError("too-deep", _DEEP)
    if _SURROGATE.search(line) and not is_unicode(data):
        message = "holds a lone surrogate, such as \\ud800, which is not Unicode text"
        raise LineError("surrogate", message)


def _is_deep(data: JsonObject) -> bool:
    level: list[JsonObject | list[object]] = [data]
    for _ in range(MAX_DEPTH + 1):
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [item for one in inner for item in one if isinstance(item, dict | list)]
        if not level:
            return False
    return True


_DEEP = "is nested too deep"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def _single(pairs: list[tuple[str, object]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise LineError("duplicate-key", f"names the key {twice!r} twice in one object")
    return found


def _no_constant(name: str) -> Never:
    raise LineError("not-finite", f"holds {name}, which is not a JSON value")


def _finite(text: str) -> float:
    value = float(text)
    if value in (_INFINITE, -_INFINITE):
        raise LineError("not-finite", f"holds the number {text[:40]}, which is too large")
    return value


_INFINITE = float("inf")
_DECODER = json.JSONDecoder(
    object_pairs_hook=_single, parse_constant=_no_constant, parse_float=_finite
)


UsableEpisode = dict[str, Any]
"""An episode that has the minimal structure; its other parts may be missing or of any type."""
UsableTrace = dict[str, Any]
"""A run in such an episode."""
_NONE = type(None)
_TRACE: dict[str, _Form] = {
    "code_cells": [str],
    "final_answer_hash": (str, _NONE),
    "execution_success": bool,
    "hooks": [{"variable_name": (str, _NONE), "value_hash": str, "depends_on": [str]}],
    "submission_metadata": dict,
}
_EPISODE: dict[str, _Form] = {
    "episode_id": str,
    "verified": bool,
    "question": {
        "id": str,
        "question_text": str,
        "hint": (str, _NONE),
        "difficulty": (str, _NONE),
        "n_steps": (int, _NONE),
    },
    "teacher_gold_trace": _TRACE,
    "consistency_traces": [_TRACE],
    "conversation_for_sft": {"system_prompt": str, "messages": [{"role": str, "content": str}]},
    "rl_verification_data": {
        "expected_final_answer_hash": (str, _NONE),
        "expected_final_answer": object,
    },
    "triangulation_metadata": {
        "n_consistency_runs": int,
        "n_consistency_succeeded": int,
        "majority_count": int,
    },
}
"""For each part a type, an object of its keys, or a list with the form of its items."""


def _unusable_at(episode: JsonObject) -> str | None:
    """The path of the first part that is missing or of a wrong type; None if there is none."""
    path = _form_fault(episode, _EPISODE)
    return None if path is None else path.removeprefix(".")


def _form_fault(value: object, form: _Form) -> str | None:
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return ""
        for key, inner in form.items():
            fault = _form_fault(value[key], inner) if key in value else ""
            if fault is not None:
                return f".{key}{fault}"
        return None
    if isinstance(form, list):
        for index, item in enumerate(value if isinstance(value, list) else ()):
            fault = _form_fault(item, form[0])
            if fault is not None:
                return f"[{index}]{fault}"
        return None if isinstance(value, list) else ""
    return None if isinstance(value, form) else ""


def read_episodes(
    path: Path, advanced: Callable[[int], None] | None = None
) -> Iterator[UsableEpisode]:
    """Every episode of a file; `advanced` gets the number of bytes read after each line.

    Raises:
        EpisodeError: The file cannot be read, or a line is not an episode.
    """
    for number, line in lines(path, advanced):
        try:
            episode = parse(line)
        except LineError as error:
            raise _unusable(str(error), f"{path}:{number}") from None
        lacking = _unusable_at(episode)
        if lacking is not None:
            raise _unusable(f"{lacking} is missing, or has the wrong type", f"{path}:{number}")
        yield episode


def _unusable(message: str, where: str) -> EpisodeError:
    hint = "`quizlog episodes check FILE` shows more"
    return EpisodeError(message, where=where, hint=hint)


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


_EPISODES = FileKind("a file of episodes", _has_episode)
ROWS = FileKind("a file of rows", asked_before)
"""An export under a name that the user gave."""
INNER_ROWS = FileKind("a file of rows", _has_row)
"""The same inside a folder that the user named."""


def write_lines(path: Path, texts: Iterable[str], kind: FileKind = _EPISODES) -> int:
    """Write a file of lines atomically; return their number.

    Raises:
        EpisodeError: It may not be made there, or cannot be written; what was there is unchanged.
    """
    refuse_place(path, kind)
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
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


def refuse_place(path: Path, kind: FileKind = _EPISODES) -> None:
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
