"""Lists of answers to try: one a line, as somebody types, pastes or keeps them in a file.

Knows no record and runs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import UsageError
from ..files.paths import typed_path

ABREAST = 16
"""Answers that are tried between two looks at whether to stop."""
MAX_BYTES = 64 * 1024 * 1024
"""Larger files are refused before they are read."""


def lines_of(text: str) -> list[str]:
    """The answers of a text: each line is one, an empty line the empty answer.

    The last line's newline ends it and begins no other; a text without any character has none.
    """
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def read_answers(path: Path) -> list[str]:
    """The answers in a file; of stdin where the path is `-`.

    Raises:
        UsageError: It cannot be read, or is no text in UTF-8, or holds no answer.
    """
    try:
        answers = lines_of(_bytes(path).decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError as error:
        hint = "one answer a line, in UTF-8"
        raise UsageError(f"is no text: byte {error.start}", where=str(path), hint=hint) from None
    if not answers:
        raise UsageError("holds no answers", where=str(path), hint="one a line")
    return answers


def _bytes(path: Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        hint = f"at most {MAX_BYTES // 2**20} MB are read"
        raise UsageError("is too big", where=str(path), hint=hint)
    return path.read_bytes()


def typed_answers(text: str) -> list[str]:
    """The answers of a typed text: `@FILE` stands for those in a file, `@@x` for the answer `@x`.

    Raises:
        UsageError: A file cannot be read.
    """
    found: list[str] = []
    for line in lines_of(text):
        if line.startswith("@@") or not line.startswith("@"):
            found.append(line.removeprefix("@") if line.startswith("@@") else line)
        else:
            found += read_answers(typed_path(line[1:].strip()))
    return found


def portions(answers: Sequence[str]) -> Iterator[Sequence[str]]:
    """The answers in portions, so that one can tell how far one is, and stop."""
    for start in range(0, len(answers), ABREAST):
        yield answers[start : start + ABREAST]
