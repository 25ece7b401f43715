"""Decides which answers count as equal.

Numbers are equal within one part in 10⁹, or if they round alike at the decimals that the question
asks for; whole numbers only if they are the same. Texts are equal apart from blanks and case,
unless the question asks for exact case. Lists and objects are compared item by item.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..decisions.decision import ModelQuestion
from .normal import NormalForm, asked_text

TOLERANCE = Fraction(1, 10**9)
"""Largest difference between equal numbers, relative to the larger one."""

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNT = rf"(?<![\w.])(\d{{1,2}}|{'|'.join(_WORDS)})"
_DECIMALS = re.compile(
    rf"{_COUNT}[ -]?(?:decimals|decimal[ -]places?|dp\b|d\.p\.|digits? after the)"
    rf"|{_COUNT}-decimal\b"
    rf"|\b(?:to|with|round\w*|correct|using) {_COUNT} decimal\b(?! (?:number|to|in)\b)",
    re.I,
)
"""Requests for a number of decimals; a bare "10 decimal" may be a number in base ten."""
_WHOLE = re.compile(
    r"\bto (?:the|its) (?:nearest|closest) (?:integer|whole number)\b"
    r"|\bround\w*\b[^.?!\n]{0,60}\b(?:nearest|closest) (?:integer|whole number|unit)\b"
    r"|\b(?:give|given|answers?|correct|express(?:ed)?)\b[^.?!\n]{0,60}"
    r"\bto the (?:nearest|closest) unit\b",
    re.I,
)
_EXACT_CASE = re.compile(
    r"\bcase[- ]sensitive|\b(?:exact|same|original) (?:upper and lower )?case\b|\bexactly as\b"
    r"|\bcase (?:matters|counts)\b|\bverbatim\b",
    re.I,
)


@dataclass(frozen=True)
class WantedForm:
    """How exactly a question wants answers to be compared."""

    decimals: int | None
    """Number of decimals it asks for; None if it names none."""
    exact_case: bool
    """Whether upper and lower case matter."""


def wanted(question: ModelQuestion) -> WantedForm:
    """How exactly a question wants answers to be compared, from its text."""
    text = asked_text(question)
    return WantedForm(_decimals(text), bool(_EXACT_CASE.search(text)))


def _decimals(text: str) -> int | None:
    found = _DECIMALS.search(text)
    if found:
        word = next(filter(None, found.groups())).lower()
        return _WORDS.index(word) if word in _WORDS else int(word)
    return 0 if _WHOLE.search(text) else None


def same(one: NormalForm, other: NormalForm, how: WantedForm) -> bool:
    """Whether two answers count as equal."""
    if one.kind != other.kind:
        return False
    if one.kind == "number":
        return _same_number(one.value, other.value, how.decimals)
    if one.kind == "json":
        return _same_json(one, other, how)
    if one.kind == "string" and not how.exact_case:
        return _folded(one.value) == _folded(other.value)
    return bool(one.value == other.value)


def _folded(text: str | None) -> str | None:
    return text if text is None else text.casefold()


def _same_number(one: Fraction, other: Fraction, decimals: int | None) -> bool:
    if one == other:
        return True
    if decimals is not None and roundings(one, decimals) & roundings(other, decimals):
        return True
    if one.denominator == other.denominator == 1:
        return False
    return abs(one - other) <= TOLERANCE * max(abs(one), abs(other))


def roundings(value: Fraction, decimals: int) -> set[int]:
    """The possible results of rounding a value, in units of the last decimal.

    A value half-way between two may go either way: people round 90.25 to 90.3, Python to 90.2.
    """
    doubled = 2 * value * Fraction(10) ** decimals
    units = (doubled.numerator + doubled.denominator) // (2 * doubled.denominator)
    half_way = doubled.denominator == 1 and doubled.numerator % 2 == 1
    return {units - 1, units} if half_way else {units}


def _same_json(one: NormalForm, other: NormalForm, how: WantedForm) -> bool:
    if isinstance(one.value, dict) and isinstance(other.value, dict):
        return one.value.keys() == other.value.keys() and all(
            same(form, other.value[key], how) for key, form in one.value.items()
        )
    if isinstance(one.value, list) and isinstance(other.value, list):
        pairs = zip(one.value, other.value, strict=False)
        return len(one.value) == len(other.value) and all(same(a, b, how) for a, b in pairs)
    return False


def grouped(forms: Sequence[NormalForm], how: WantedForm) -> list[list[int]]:
    """The indices of forms in groups whose members all equal each other.

    A form that fits two groups joins the one that starts with the more frequent form. The order of
    the forms makes no difference.
    """
    texts = [repr(form) for form in forms]
    times = Counter(texts)
    groups: list[list[int]] = []
    for index in sorted(range(len(forms)), key=lambda i: (-times[texts[i]], texts[i])):
        fits = (g for g in groups if all(same(forms[index], forms[i], how) for i in g))
        group = next(fits, None)
        if group is None:
            groups.append([index])
        else:
            group.append(index)
    return [sorted(group) for group in groups]
