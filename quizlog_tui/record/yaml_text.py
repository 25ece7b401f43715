"""Reads and writes YAML and JSON text; every string survives exactly.

Reading is strict, as the text may be hostile or damaged: no aliases, merge keys, tags or duplicate
keys, limited depth and size. Writing quotes every string in a form that YAML and JSON read alike.
This module does not know what the keys mean. It is the only one that imports PyYAML.

`parse` reads any text, and `parse_own` only what `dump_yaml` writes, about as fast as JSON and
without PyYAML: a record of 10,000 answers 2.4 times as fast as PyYAML with its C library, and a
cold `quizlog RECORD` takes 1.45 times as long without it (measured by `tests/bench/readers.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from json.encoder import encode_basestring as _quote
from typing import Any, NoReturn

from ..errors import RecordError

MAX_BYTES = 64 * 1024 * 1024
"""Maximum size of a file; larger ones are refused unread."""
MAX_DEPTH = 32
"""Maximum depth of nesting."""
MAX_DIGITS = 4300
"""Maximum length of a number: Python reads and writes no more decimal digits."""

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED_KEYS = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n"})


def parse(text: str, where: str) -> tuple[Any, dict[str, int]]:
    """The data in a YAML or JSON text, and the line of each value by its path (none for JSON).

    Raises:
        RecordError: The text is neither; the error names line and column.
    """
    if text.lstrip()[:1] == "{":
        try:
            data = json.loads(text, object_pairs_hook=_no_duplicates)
            _check_depth(data)
            return data, {}
        except RecordError as error:
            raise RecordError(error.message, where=where, hint=error.hint) from None
        except (ValueError, RecursionError):
            pass  # YAML may start with a brace too, and its reader has the better message
    return _Reader(text, where).read()


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        names = [key for key, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RecordError(f"the key {twice!r} appears twice", hint="keep one of them")
    return data


def _check_depth(data: Any) -> None:
    """Refuse JSON too deep to be written as YAML and read again."""
    level = [data]
    for _ in range(MAX_DEPTH + 1):
        values = (inner.values() if isinstance(inner, dict) else inner for inner in level)
        level = [inner for each in values for inner in each if isinstance(inner, (dict, list))]
    if level:
        raise RecordError(_TOO_DEEP, hint=_FLAT)


class _Reader:
    """Builds plain data from PyYAML's events in one pass, with a limit on depth."""

    def __init__(self, text: str, where: str) -> None:
        import yaml

        self.yaml = yaml
        self.text = text
        self.where = where
        # `quoted` escapes lone surrogates; libyaml refuses those, and the slow loader reads them.
        fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self.loader = yaml.SafeLoader if _SURROGATE_ESCAPE.search(text) else fast
        self.values: Any = yaml.SafeLoader("")
        self.lines: dict[str, int] = {}
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=self.loader))

    def read(self) -> tuple[Any, dict[str, int]]:
        yaml = self.yaml
        try:
            self._next()
            first = self._next()
            if isinstance(first, yaml.StreamEndEvent):
                return None, {}
            data = self._value(self._next(), "", 0)
            self._next()
            if not isinstance(self._next(), yaml.StreamEndEvent):
                raise RecordError("holds more than one document", where=self.where, hint=_ONE)
            return data, self.lines
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._refuse_too_deep_before(mark)
            self._fail(mark, f"not valid YAML: {error.problem or error.context}", _VALID)
        except yaml.YAMLError as error:
            message = str(error).splitlines()[0]
            raise RecordError(f"not valid YAML: {message}", where=self.where, hint=_VALID) from None

    def _refuse_too_deep_before(self, mark: Any) -> None:
        """Refuse a text that was too deep for us before it went wrong for the library.

        The library reads up to a thousand characters ahead of its events, so that it may meet an
        error there, such as a limit of its own, before `_value` sees how deep the text is.
        """
        yaml = self.yaml
        depth = 0
        try:
            for event in yaml.parse(self.text[: mark.index] if mark else "", Loader=self.loader):
                if depth > MAX_DEPTH and isinstance(event, yaml.NodeEvent):
                    self._fail(event.start_mark, _TOO_DEEP, _FLAT)
                depth += isinstance(event, yaml.CollectionStartEvent)
                depth -= isinstance(event, yaml.CollectionEndEvent)
        except yaml.YAMLError:
            pass  # it ends in the middle

    def _next(self) -> Any:
        return next(self.events)

    def _fail(self, mark: Any, message: str, hint: str) -> NoReturn:
        place = f"{self.where}:{mark.line + 1}:{mark.column + 1}" if mark else self.where
        raise RecordError(message, where=place, hint=hint)

    def _value(self, event: Any, path: str, depth: int) -> Any:
        yaml = self.yaml
        self.lines[path] = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            self._fail(event.start_mark, f"uses the alias *{event.anchor}", _NO_ALIAS)
        if depth > MAX_DEPTH:
            self._fail(event.start_mark, _TOO_DEEP, _FLAT)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if event.tag is not None:
            self._fail(event.start_mark, f"uses the tag {event.tag}", "leave tags out")
        if isinstance(event, yaml.SequenceStartEvent):
            return list(self._items(path, depth))
        return self._mapping(path, depth)

    def _scalar(self, event: Any) -> Any:
        if event.style in ("'", '"', "|", ">") and event.tag in (None, "!"):
            return event.value
        if event.tag is not None:
            self._fail(event.start_mark, f"uses the tag {event.tag}", "leave tags out")
        tag = self.values.resolve(self.yaml.ScalarNode, event.value, event.implicit)
        kind = tag.rpartition(":")[2]
        if kind not in ("int", "float", "bool", "null"):
            return event.value
        node = self.yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark)
        try:
            if len(event.value) > MAX_DIGITS:
                raise ValueError("too long, in whatever notation")
            value = getattr(self.values, f"construct_yaml_{kind}")(node)
            str(value)  # a short hexadecimal number may have too many decimal digits
            return value
        except ValueError:
            hint = "write a shorter one, or put it in quotes"
            self._fail(event.start_mark, "the number is too long to be read", hint)

    def _items(self, path: str, depth: int) -> Iterator[Any]:
        index = 0
        while not isinstance(event := self._next(), self.yaml.SequenceEndEvent):
            yield self._value(event, f"{path}[{index}]", depth + 1)
            index += 1

    def _mapping(self, path: str, depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        while not isinstance(event := self._next(), self.yaml.MappingEndEvent):
            if not isinstance(event, self.yaml.ScalarEvent):
                self._fail(
                    event.start_mark,
                    "a key must be a simple name",
                    "see `quizlog help record-format`",
                )
            key = event.value
            if key in data:
                self._fail(event.start_mark, f"the key {key!r} appears twice", "keep one of them")
            inner = f"{path}.{key}" if path else key
            data[key] = self._value(self._next(), inner, depth + 1)
        return data


_ONE = "keep one document in the file"
_VALID = "fix the file at this place; nothing was changed"
_NO_ALIAS = "write the value out; records have no aliases"
_TOO_DEEP = f"is nested deeper than {MAX_DEPTH} levels"
_FLAT = "reduce the nesting; a record needs only a few levels"


@cache
def _unprintable() -> re.Pattern[str]:
    """Finds what YAML escapes and JSON does not; nearly all text is ASCII and needs no look."""
    return re.compile(
        "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
    )


def quoted(text: str) -> str:
    """A string in double quotes, escaped so that YAML and JSON read it alike."""
    text = _quote(text)
    if text.isascii() and "\x7f" not in text:
        return text
    return _unprintable().sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def dump_yaml(data: Mapping[str, Any]) -> str:
    """Data as block-style YAML with every string quoted."""
    return "".join(_entries(data, ""))


def _entries(data: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in data.items():
        plain = _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED_KEYS
        yield f"{indent}{key if plain else quoted(key)}:{_block(value, indent)}"


def _block(value: Any, indent: str) -> str:
    """The text after a key or dash: a scalar on the same line, or a nested block below it."""
    if isinstance(value, Mapping):
        return "\n" + "".join(_entries(value, indent + "  ")) if value else " {}\n"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "\n" + "".join(list_items(value, indent)) if value else " []\n"
    return f" {_scalar(value)}\n"


def list_items(values: Iterable[Any], indent: str = "") -> Iterator[str]:
    """The lines of a block sequence."""
    for value in values:
        if isinstance(value, str):
            yield f"{indent}- {quoted(value)}\n"
        else:
            yield f"{indent}-{_item(value, indent)}"


def one_line_items(values: Iterable[Any]) -> Iterator[str]:
    """The lines of a block sequence with each item on one line, mappings in braces."""
    for value in values:
        yield f"- {_flow(value)}\n"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{quoted(key)}: {_flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value)


def _item(value: Any, indent: str) -> str:
    if isinstance(value, Mapping) and value:
        return "\n" + "".join(_entries(value, indent + "  "))
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return "\n" + "".join(list_items(value, indent + "  "))
    return _block(value, indent)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return _float(value)
    return {None: "null", True: "true", False: "false"}[value] if not _is_int(value) else str(value)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _float(value: float) -> str:
    text = repr(value)
    if text in ("nan", "inf", "-inf"):
        return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}[text]
    if "e" in text and "." not in text:
        return text.replace("e", ".0e")
    return text


def has_libyaml() -> bool:
    """Whether PyYAML's fast parser is installed."""
    import yaml

    return hasattr(yaml, "CSafeLoader")


_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_NUMBER = r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]+(?:e[+-][0-9]+)?)?"
_SCALAR = re.compile(rf"{_STRING}|{_NUMBER}|true|false|null|\[\]|\{{\}}")
_ENTRY = re.compile(rf"( *)([A-Za-z_][A-Za-z0-9_-]*|{_STRING}):(?: (.+))?")
_PLAIN = rf"(?:{_STRING}|{_NUMBER}|true|false|null)"
_FLAT_MAPPING = re.compile(rf"\{{{_STRING}: {_PLAIN}(?:, {_STRING}: {_PLAIN})*\}}")
"""A mapping of scalars on one line, as `one_line_items` writes it."""
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]")
"""An escaped surrogate pair: one character in JSON, two in YAML."""


def parse_own(text: str) -> dict[str, Any] | None:
    """The data in a text that `dump_yaml` could have written; None for any other text.

    Only text that PyYAML reads in the same way is accepted: double quotes, decimal numbers, blocks
    indented as `dump_yaml` indents them, no comments. `parse` reads all else, and has the error
    messages.
    """
    if not text.endswith("\n") or _PAIR.search(text):
        return None
    if "\x7f" in text or (not text.isascii() and _unprintable().search(text)):
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
            data[key] = self._block(indent, depth) if value is None else _own_scalar(value)
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
            alike = self._texts(f'{dash} "') or self._mappings(f"{dash} ")
            if alike:
                items += alike
                continue
            rest = self._lines[self._at][len(dash) :]
            self._at += 1
            if rest:
                items.append(
                    _own_scalar(rest.removeprefix(" ")) if rest[0] == " " else _refuse(rest)
                )
            elif self._begins(f"{dash[:-1]}  -"):
                items.append(self._items(indent + 2, _deeper(depth)))
            else:
                items.append(self.mapping(indent + 2, _deeper(depth)))
        return items

    def _texts(self, start: str) -> list[Any]:
        """The next consecutive items that are strings, parsed together.

        A string of JSON holds no line break, so each of as many strings as lines has one to itself.
        """
        end = self._at
        while end < len(self._lines) and self._lines[end].startswith(start):
            end += 1
        skip = len(start) - 1
        texts = [line[skip:] for line in self._lines[self._at : end]]
        if not all(text[-1] == '"' for text in texts):
            _refuse("more behind a string")
        self._at = end
        joined = ",\n".join(texts)
        items: list[Any] = json.loads(f"[{joined}]")
        return items if len(items) == len(texts) else _refuse("several strings in a line")

    def _mappings(self, dash: str) -> list[Any]:
        """The next consecutive items that are mappings on one line, parsed together."""
        skip, texts = len(dash), []
        for at in range(self._at, len(self._lines)):
            line = self._lines[at]
            if not line.startswith(dash) or not _FLAT_MAPPING.fullmatch(line, skip):
                break
            texts.append(line[skip:])
        self._at += len(texts)
        items: list[Any] = json.loads(f"[{','.join(texts)}]", object_pairs_hook=_distinct)
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
    return text if text.lower() not in _RESERVED_KEYS else _refuse(text)


def _own_scalar(text: str) -> Any:
    return json.loads(text) if _SCALAR.fullmatch(text) else _refuse(text)


def _refuse(what: str) -> Any:
    raise ValueError(what)
