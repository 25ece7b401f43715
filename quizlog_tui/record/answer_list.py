"""Lists of answers to try: one per line, typed, pasted or read from a file.

This module knows no record and runs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..errors import UsageError
from ..files.paths import typed_path

ABREAST = 16
"""Number of answers in one portion; after each portion the work can be stopped."""
MAX_BYTES = 64 * 1024 * 1024
"""Maximum size of a file of answers; larger files are refused unread."""


def lines_of(text: str) -> list[str]:
    """The answers in a text: each line is one, an empty line is the empty answer.

    A newline at the end of the text starts no further answer; an empty text has no answers.
    """
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def read_answers(path: Path) -> list[str]:
    """The answers in a file, or from stdin if the path is `-`.

    Raises:
        UsageError: The file cannot be read, is not UTF-8 text, or holds no answer.
    """
    try:
        answers = lines_of(_bytes(path).decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError as error:
        hint = "write one answer per line, in UTF-8"
        message = f"is not text: byte {error.start}"
        raise UsageError(message, where=str(path), hint=hint) from None
    if not answers:
        raise UsageError("holds no answers", where=str(path), hint="write one per line")
    return answers


def _bytes(path: Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        hint = f"at most {MAX_BYTES // 2**20} MB are read"
        raise UsageError("is too big", where=str(path), hint=hint)
    return path.read_bytes()


def typed_answers(text: str, path_of: Callable[[str], Path] = typed_path) -> list[str]:
    """The answers in a typed text: `@FILE` means those in a file, `@@x` means the answer `@x`.

    Args:
        text: The text.
        path_of: The path of a typed file; raises an error if it may not be read.

    Raises:
        UsageError: A file cannot be read.
    """
    answers: list[str] = []
    for line in lines_of(text):
        if line.startswith("@@") or not line.startswith("@"):
            answers.append(line.removeprefix("@") if line.startswith("@@") else line)
        else:
            answers += read_answers(path_of(line[1:].strip()))
    return answers


def portions(answers: Sequence[str]) -> Iterator[Sequence[str]]:
    """The answers in portions, so that progress can be shown and the work stopped in between."""
    for start in range(0, len(answers), ABREAST):
        yield answers[start : start + ABREAST]
