"""Finds the kind of answer that a question wants: from tags, the parsing code, or the prompt. Pure.

A guess only helps to draw a fitting input; any text is always accepted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .input_kinds import (
    CHECKBOX,
    CHOICE,
    INTEGER,
    JSON,
    MATRIX,
    MATRIX_LIST,
    NUMBER,
    RADIO,
    TEXT,
    TEXTAREA,
    YESNO,
)
from .source import Source


class InputType(NamedTuple):
    """The kind of an answer."""

    name: str = TEXT
    """One of `input_kinds`."""
    choices: tuple[str, ...] = ()
    """The options, where the prompt names them."""
    rows: int | None = None
    """Height requested by `#rows=N`."""


_LONGEST = 5_000
"""Maximum number of characters that are examined, from a question's end: some patterns are slow."""
_READERS = {("int", "("): INTEGER, ("float", "("): NUMBER, ("json", ".", "loads", "("): JSON}
"""The words before an `input(...)` that is read as a whole, and what they read."""
_WORD = re.compile(r"""\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\#.*|\w+|\S""")
"""A word of a line of code: a text, a comment, a name, a number or a sign."""
_STRIPS = [[".", name, "(", ")"] for name in ("strip", "lstrip", "rstrip")]
"""Calls after `input(...)` that do not change what is read from it."""
_YES_NO = re.compile(r"\b(?:yes|y)\b\W{0,3}(?:/|\||,|or)\W{0,3}(?:no|n)\b", re.I)
_GROUP = re.compile(r"[(\[{<]\s*([^()\[\]{}<>]+?)\s*[)\]}>]")
_LISTED = re.compile(r"^\s*([(\[]?([A-Za-z]|\d{1,2})[).\]:]\s+\S.*)", re.M)
_CHOOSE = re.compile(
    r"\b(?:choose|pick|select|answer|enter|type)\b[^:?.]*?\b(\w+(?:,\s*\w+)*,?\s+or\s+\w+)\b", re.I
)
_OPENS_YES_NO = re.compile(
    r"(?:^|[.!:;,]\s|\n)\s*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should"
    r"|may|must)\b(?![^?]*\bor\b)[^?]*\?\W*$",
    re.I,
)
_NAMES = re.compile(
    r"\b(?:version|release|build|phone|telephone|mobile|fax|order|serial|part|model|article|account"
    r"|bank|card|id|identity|identification|reference|tracking|ticket|invoice|customer|membership"
    r"|student|employee|passport|licen[cs]e|registration|policy|flight|room|house|seat|post|postal"
    r"|zip|pin|tax|vat|lot|batch|isbn)(?: code)?[ -]numbers?\b",
    re.I,
)
"""Numbers that are names: `3.10` is another version than `3.1`, and `007` another room than `7`."""
_NO_DECIMALS = (
    r"\b(?:hex|hexadecimal|octal|binary|roman numerals?|base[ -]?\d+|versions?|dates?|telephone"
    r"|phone|postcode|zip|pin|isbn|iban|serial|passport)\b"
)
"""Words of questions whose answers have digits, but are not decimal numbers."""
_WORDS = (
    (re.compile(r"\bjson\b", re.I), JSON),
    (re.compile(r"\bmatri(?:x|ces)\b|\[\[", re.I), MATRIX),
    (re.compile(r"\binteger|\bwhole number|\bhow many\b|\bindex\b|\bcount\b", re.I), INTEGER),
    (
        re.compile(
            r"\bnumber\b|\bhow much\b|\bdecimal\b|\bvalue of\b|\bdeterminant\b|\bsum\b|\bproduct\b"
            r"|\bdifference\b|\bquotient\b|\bremainder\b|\btrace\b|\brank\b|\d\s*[-+*/×÷^]\s*\(?\d",
            re.I,
        ),
        NUMBER,
    ),
)


def input_type(prompt: str, line: int | None, source: Source, before: str = "") -> InputType:
    """The kind of answer wanted.

    Args:
        prompt: The question's own text.
        line: The script line that asks, if known.
        source: The script, for tags (spec: a comment on the `input()` line) and parsing.
        before: The last thing printed, used where the prompt is empty.
    """
    text = prompt[-_LONGEST:].strip() or before[-_LONGEST:].strip()
    tags = source.tags(line) if line else []
    kinds = [MATRIX if tag == MATRIX_LIST else tag for tag in tags if "=" not in tag]
    rows = next((int(tag.split("=")[1]) for tag in tags if "=" in tag), None)
    if kinds or rows:
        name = kinds[0] if kinds else TEXTAREA
        options = choices_in(text) if name in (RADIO, CHECKBOX) else ()
        return InputType(name, options, rows)
    parsed = parsed_kind(source.line(line) if line else "")
    return InputType(parsed) if parsed else _from_prompt(text)


def parsed_kind(code: str) -> str | None:
    """The kind of answer that a line of code reads, as in `int(input(...))`; None if open.

    It is read only if all that `input` returns is the only argument, for every `input` of the line.
    The line may be a part of a statement, so that it need not be code by itself.
    """
    words = [word for word in _WORD.findall(code) if not word.startswith("#")]
    asks = [at for at in range(len(words)) if words[at : at + 2] == ["input", "("]]
    found = {_reader(words, at) for at in asks}
    return found.pop() if len(found) == 1 else None


def _reader(words: list[str], at: int) -> str | None:
    """The kind that the call around an `input` reads."""
    end = _after_call(words, at + 1)
    while words[end : end + 4] in _STRIPS:
        end += 4
    if words[end : end + 1] != [")"]:
        return None
    for names, kind in _READERS.items():
        start = at - len(names)
        if start >= 0 and tuple(words[start:at]) == names and words[start - 1 : start] != ["."]:
            return kind
    return None


def _after_call(words: list[str], opening: int) -> int:
    """Where the words after a call begin, from its opening bracket."""
    depth = 0
    for at in range(opening, len(words)):
        depth += (words[at] in "([{") - (words[at] in ")]}")
        if depth == 0:
            return at + 1
    return len(words)


def _from_prompt(text: str) -> InputType:
    if _YES_NO.search(text):
        return InputType(YESNO)
    options = choices_in(text)
    if options:
        return InputType(CHOICE, options)
    if _OPENS_YES_NO.search(text):
        return InputType(YESNO)
    said = _NAMES.sub("", text)
    name = next((name for pattern, name in _WORDS if pattern.search(said)), TEXT)
    return InputType(TEXT if name == NUMBER and re.search(_NO_DECIMALS, text, re.I) else name)


def choices_in(text: str) -> tuple[str, ...]:
    """The options a prompt offers: `(a/b/c)`, `[red|green]`, `1) ...` lines, `choose a, b or c`."""
    for group in _GROUP.findall(text):
        for mark in ("/", "|"):
            parts = [part.strip().strip("'\"") for part in group.split(mark)]
            if len(parts) > 1 and all(_is_option(part) for part in parts):
                return tuple(parts)
    listed = tuple(option for option, _ in listed_options(text))
    if len(listed) > 1:
        return listed
    match = _CHOOSE.search(text)
    return tuple(re.split(r",\s*or\s+|,\s*|\s+or\s+", match[1])) if match else ()


def listed_options(text: str) -> list[tuple[str, str]]:
    """The options on lines of their own, such as `1) red`, each with its line."""
    return [(found[2], found[1].rstrip()) for found in _LISTED.finditer(text[-_LONGEST:])]


def _is_option(part: str) -> bool:
    return 0 < len(part) <= 30 and len(part.split()) <= 3 and not re.fullmatch(r"[\d.]+", part)
