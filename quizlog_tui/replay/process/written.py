"""Checks the printed texts that a worker reports against the bytes that left its process.

The bytes are the truth. The report only says where one `print()` ends and the next one begins. Text
that the bytes do not confirm is replaced by the bytes. Reads no file and decides no verdict.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import Any

from .protocol import RawStep

_MOST_UNWRITTEN = 1 << 16
"""Maximum bytes of text in a script's buffers at a question; each buffer holds 8 KiB."""


class WrittenText:
    """Checks the output of one process from stop to stop."""

    def __init__(self) -> None:
        self.unwritten = b""
        """Text that was reported and has not left the process yet."""
        self.disagrees = False
        """Whether a report contradicted the bytes, and nothing explains it."""

    def copy(self) -> WrittenText:
        """The state for a copy of the process, which continues at the same stop."""
        copy = WrittenText()
        copy.unwritten, copy.disagrees = self.unwritten, self.disagrees
        return copy

    def texts(self, step: RawStep, data: bytes, writing: tuple[str, str] | None) -> tuple[str, ...]:
        """The strings written in one step, prompt excluded.

        Args:
            step: The worker's report of the step.
            data: The bytes of the step.
            writing: Encoding and newline; None unless the script changed them.
        """
        start = step.out_end - len(data)
        account = step.entries + step.asked
        texts = [entry for entry in account if isinstance(entry, str)]
        own = data if len(texts) == len(account) else _without(account, data, start)
        reported = _encoded("".join(texts), writing)
        if reported is not None and self._confirms(reported, own):
            return tuple(_strings(step.entries, data, start))
        self.unwritten = b""
        self.disagrees = self.disagrees or writing is None
        return tuple(lines(data, writing))

    def late(self, data: bytes) -> tuple[str, ...]:
        """The strings written after the worker's last report."""
        new = data.removeprefix(self.unwritten)
        self.unwritten = b""
        return tuple(lines(new))

    def _confirms(self, reported: bytes, own: bytes) -> bool:
        """Whether the bytes are as reported, except for text that waits in a buffer."""
        reported = self.unwritten + reported
        rest = reported[len(own) :]
        if not reported.startswith(own) or len(rest) > _MOST_UNWRITTEN:
            return False
        self.unwritten = rest
        return True


def _strings(entries: Iterable[Any], data: bytes, start: int) -> Iterable[str]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            yield from lines(data[entry[0] - start : entry[1] - start])


def lines(data: bytes, writing: tuple[str, str] | None = None) -> list[str]:
    """Bytes as lines of text; undecodable bytes are kept as surrogates."""
    encoding = _known(writing[0]) if writing else None
    text = data.decode(encoding or "utf-8", "surrogateescape")
    parts = text.split("\n")
    return [f"{line}\n" for line in parts[:-1]] + [line for line in parts[-1:] if line]


def _encoded(text: str, writing: tuple[str, str] | None) -> bytes | None:
    """The bytes of the interpreter's own text; None if they cannot be known."""
    encoding = "utf-8"
    if writing is not None:
        known = _known(writing[0])
        if known is None:
            return None
        encoding, newline = known, writing[1]
        text = text.replace("\n", newline) if newline else text
    try:
        return text.encode(encoding, "surrogateescape")
    except UnicodeError:
        return None


def _known(encoding: str) -> str | None:
    """The encoding if it has no state between characters; None if it has or is unknown."""
    try:
        found = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    plain = found in ("ascii", "utf-8") or found.startswith(("iso8859-", "cp125", "koi8"))
    return found if plain else None


def _without(entries: Iterable[Any], data: bytes, start: int) -> bytes:
    """The bytes of a step without those that others wrote."""
    parts, at = [], 0
    for entry in entries:
        if not isinstance(entry, str):
            parts.append(data[at : entry[0] - start])
            at = entry[1] - start
    return b"".join([*parts, data[at:]])
