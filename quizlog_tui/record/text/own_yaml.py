"""A fast reader for exactly the YAML that `dump_yaml` writes, about as fast as JSON.

It avoids importing PyYAML and PyYAML's slow handling of long lists. It accepts only text that
PyYAML reads in the same way: double quotes, decimal numbers, blocks indented as `dump_yaml` indents
them, no comments. All else is left to the full reader, which also has the error messages.

It reads a record of 10,000 answers 2.4 times as fast as PyYAML with its C library, and a cold
`quizlog RECORD` takes 1.45 times as long without it (measured by `tests/bench/readers.py`).
"""

from __future__ import annotations

import json
import re
from typing import Any

from .yaml_text import MAX_DEPTH, RESERVED_KEYS, UNPRINTABLE

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_NUMBER = r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]+(?:e[+-][0-9]+)?)?"
_SCALAR = re.compile(rf"{_STRING}|{_NUMBER}|true|false|null|\[\]|\{{\}}")
_ENTRY = re.compile(rf"( *)([A-Za-z_][A-Za-z0-9_-]*|{_STRING}):(?: (.+))?")
_TEXT = re.compile(_STRING)
_PLAIN = rf"(?:{_STRING}|{_NUMBER}|true|false|null)"
_FLAT = re.compile(rf"\{{{_STRING}: {_PLAIN}(?:, {_STRING}: {_PLAIN})*\}}")
"""A mapping of scalars on one line, as `one_line_items` writes it."""
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]")
"""An escaped surrogate pair: one character in JSON, two in YAML."""


def parse_own(text: str) -> dict[str, Any] | None:
    """The data in a text that `dump_yaml` could have written; None for any other text."""
    if not text.endswith("\n") or _PAIR.search(text):
        return None
    if "\x7f" in text or (not text.isascii() and UNPRINTABLE.search(text)):
        return None  # some of these characters end a line in YAML
    lines = _Lines(text[:-1].split("\n"))
    try:
        data = lines.mapping(0, 0)
    except ValueError:
        return None
    return data if lines.ended else None


class _Lines:
    """Reads blocks line by line. Its methods raise `ValueError` for text of any other form."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    @property
    def ended(self) -> bool:
        """Whether all lines were read."""
        return self._at == len(self._lines)

    def mapping(self, indent: int, depth: int) -> dict[str, Any]:
        """The entries that start at column `indent`, up to the first line that is not one."""
        data: dict[str, Any] = {}
        while not self.ended:
            match = _ENTRY.fullmatch(self._lines[self._at])
            if match is None or len(match[1]) != indent:
                break
            key = _key(match[2])
            if key in data:
                raise ValueError("a key that appears twice")
            self._at += 1
            value = match[3]
            data[key] = self._block(indent, depth) if value is None else _scalar(value)
        if not data:
            raise ValueError("a key without a value")
        return data

    def _block(self, indent: int, depth: int) -> Any:
        """The block below a key: a list at the key's column, or a mapping indented deeper."""
        if self._begins(" " * indent + "-"):
            return self._items(indent, _deeper(depth))
        return self.mapping(indent + 2, _deeper(depth))

    def _items(self, indent: int, depth: int) -> list[Any]:
        """The items whose dash is at column `indent`."""
        dash = " " * indent + "-"
        items: list[Any] = []
        while self._begins(dash):
            alike = self._alike(f"{dash} ", _TEXT) or self._alike(f"{dash} ", _FLAT)
            if alike:
                items += alike
                continue
            rest = self._lines[self._at][len(dash) :]
            self._at += 1
            if rest:
                items.append(_scalar(rest.removeprefix(" ")) if rest[0] == " " else _refuse(rest))
            elif self._begins(f"{dash[:-1]}  -"):
                items.append(self._items(indent + 2, _deeper(depth)))
            else:
                items.append(self.mapping(indent + 2, _deeper(depth)))
        return items

    def _alike(self, dash: str, pattern: re.Pattern[str]) -> list[Any]:
        """The next consecutive items of one pattern, parsed together."""
        start, skip = self._at, len(dash)
        while self._begins(dash) and pattern.fullmatch(self._lines[self._at], skip):
            self._at += 1
        texts = ",".join(line[skip:] for line in self._lines[start : self._at])
        items: list[Any] = json.loads(f"[{texts}]", object_pairs_hook=_distinct)
        return items

    def _begins(self, start: str) -> bool:
        return not self.ended and self._lines[self._at].startswith(start)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    return data if len(data) == len(pairs) else _refuse("a key that appears twice")


def _deeper(depth: int) -> int:
    return depth + 1 if depth + 1 < MAX_DEPTH else _refuse("too deep")


def _key(text: str) -> str:
    if text[0] == '"':
        return str(json.loads(text))
    return text if text.lower() not in RESERVED_KEYS else _refuse(text)


def _scalar(text: str) -> Any:
    return json.loads(text) if _SCALAR.fullmatch(text) else _refuse(text)


def _refuse(what: str) -> Any:
    raise ValueError(what)
