"""Reads an episodes file line by line: strict JSON, numbered lines, limited memory."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Never

from ...errors import EpisodeError
from ..format.hashing import MAX_DEPTH, JsonObject, is_unicode

_BUFFER = 2**20
MAX_LINE = 256 * 1024 * 1024
"""Maximum size of a line in bytes."""


class LineError(ValueError):
    """A line is not a strict JSON object.

    Args:
        code: A short name of the fault.
        message: What is wrong.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def lines(path: Path, advanced: Callable[[int], None] | None = None) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with its number from 1 and without its newline.

    Args:
        path: The file.
        advanced: Called after each line with the number of bytes read.

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
