"""Finds in the text of a question how exactly it wants its answer: decimals, case, lists. Pure."""

from __future__ import annotations

import re

from ..decisions.decision import ModelQuestion

_SHORT = 20
"""A prompt with fewer characters does not describe the question without its context."""
_NEAR = 80
"""Number of characters before a request that can deny it."""
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNT = rf"(?<![\w.])(\d{{1,2}}|{'|'.join(_WORDS)})"
_DECIMALS = re.compile(
    rf"{_COUNT}[ -]?(?:decimals|decimal[ -]places?|places of decimals|dp\b|d\.p\.?"
    r"|(?:digits?|places?) after the)"
    rf"|{_COUNT}-decimal\b"
    rf"|\b(?:to|with|round\w*|correct|using) {_COUNT} decimal\b(?! (?:number|to|in)\b)",
    re.I,
)
"""Requests for a number of decimals; a bare "10 decimal" may be a number in base ten."""
_FIGURES = re.compile(
    rf"{_COUNT}[ -]?(?:significant[ -](?:figures?|digits?)|sig\.?[ -]?(?:figs?|digits?)\b"
    r"|s\.f\.?|sf\b)",
    re.I,
)
"""Requests for a number of significant figures."""
_UNITS = {
    "integer": 0, "whole number": 0, "dollar": 0, "euro": 0, "rupee": 0, "degree": 0,
    "cent": 2, "penny": 2, "paisa": 2, "tenth": 1, "hundredth": 2, "thousandth": 3,
    "ten thousandth": 4, "hundred thousandth": 5, "millionth": 6,
    "ten": -1, "hundred": -2, "thousand": -3, "ten thousand": -4, "hundred thousand": -5,
    "million": -6,
}  # fmt: skip
"""Units that are rounded to, with the number of decimals that each leaves."""
_UNIT = "|".join(name.replace(" ", "[- ]") for name in sorted(_UNITS, key=len, reverse=True))
_NEAREST = re.compile(
    rf"(?:\bto (?:the|its) |\bround\w*\b[^.?!\n]{{0,60}}\b|[(,] ?)(?:nearest|closest) "
    rf"(?:({_UNIT})s?\b(?![-\w])|(0?\.0*1|1(?:\.0)?|10+)(?![\w]|\.\d))",
    re.I,
)
_PLACE = re.compile(
    r"(?:\bround\w*\b[^.?!\n]{0,60}\bto (?:the )?|\bto )"
    r"((?:ten|hundred)[- ]thousandth|tenth|hundredth|thousandth|millionth)(?:s\b| place\b)",
    re.I,
)
_UNIT_ALONE = re.compile(
    r"\bround\w*\b[^.?!\n]{0,60}\b(?:nearest|closest) unit\b"
    r"|\b(?:give|given|answers?|correct|express(?:ed)?)\b[^.?!\n]{0,60}"
    r"\bto the (?:nearest|closest) unit\b",
    re.I,
)
"""Requests for whole numbers in words that may also speak of a place."""
_EXACT_CASE = re.compile(
    r"\bcase[- ]sensitive|\b(?:exact|same|original) (?:upper and lower )?case\b|\bexactly as\b"
    r"|\bcase (?:matters|counts)\b|\bverbatim\b"
    r"|\b(?:lower|upper|title|camel|pascal|sentence|proper|mixed|swap)[- ]?cased?\b"
    r"|\b(?:un|de)?capitali[sz]|\b(?:capital|small) letters?\b|\b(?:in|all|block)[- ]capitals\b"
    r"|\ball[- ]caps\b|\.(?:capitalize|casefold|lower|swapcase|title|upper)\(",
    re.I,
)
"""Requests for answers in exactly the right case."""
_ANY_CASE = re.compile(
    r"\bcase[- ]insensitive|\b(?:ignor\w+|regardless of) (?:the )?(?:letter )?case\b"
    r"|\b(?:case|capitali[sz]ation) (?:does not|doesn['’]t|is not|isn['’]t) (?:matter|important)\b",
    re.I,
)
"""Says that the case does not matter."""
LISTS = re.compile(
    r"\b(?:lists?|arrays?|tuples?|json|dict(?:ionary|ionaries|s)?|matri(?:x|ces)|vectors?)\b", re.I
)
"""Words of questions that ask for a list or an object."""
TINY = re.compile(
    r"\bscientific\b|\bsignifican|\bp[- ]?values?\b|\bprobabilit|\blikelihood|\bepsilon\b"
    r"|\b(?:nano|pico|femto|atto)|\bcoulombs?\b|\bplanck|\bboltzmann|\belectron|\bproton|\bneutron"
    r"|(?:\^|\*\*)\s*[({]?\s*[-−]|⁻|/\s*\(?\s*\d+\s*(?:\^|\*\*)|\d[eE][-−]\d|0\.0{9}",
    re.I,
)
"""Words of questions whose answers may be tiny without being zero."""
PRECISE = re.compile(
    r"\b(?:1[3-9]|[2-9]\d|[1-9]\d\d+)[ -]?(?:\w+[ -])?"
    r"(?:digits?|figures?|figs?|decimals?|places?)\b"
    r"|\b(?:1[3-9]|[2-9]\d)[ -]?(?:s\.?f|d\.?p)\b",
    re.I,
)
"""Requests for more digits than computed numbers are compared by."""
_UNBOUND = re.compile(
    r"\b(?:not|never|without|avoid|no|\w+n['’]t) (?:ever |to )?"
    r"(?:(?:be )?(?:round|truncat|cut|shorten|limit|restrict)\w*"
    r"(?:(?!\b(?:and|but|then)\b)[^.?!,;:\n]){0,40})?$"
    r"|(?:\bat least|\bminimum(?: of)?|(?<!\bno )(?<!\bnot )\bmore than|\bbeyond) (?:to )?$",
    re.I,
)
"""What before a request for rounding says that the answer may have more digits."""
_OR_MORE = re.compile(r"\s*(?:or|and) (?:more|better|above)\b", re.I)


def asked_text(question: ModelQuestion) -> str:
    """The text of the question, with its context if it has only a word or two."""
    if len(question.text) < _SHORT:
        return f"{question.text}\n{question.context}"
    return question.text


def decimals_asked(text: str) -> int | None:
    """The number of decimals that a question asks for, below 0 for tens and more, else None."""
    if found := _bound(_DECIMALS, text):
        return _count(found)
    if found := _bound(_PLACE, text) or _bound(_NEAREST, text):
        if found[1]:
            return _UNITS[found[1].lower().replace("-", " ")]
        whole, _, part = found[2].partition(".")
        return 1 - len(whole) if whole.strip("0") else len(part)
    return 0 if _bound(_UNIT_ALONE, text) else None


def figures_asked(text: str) -> int | None:
    """The number of significant figures that a question asks for, else None."""
    found = _bound(_FIGURES, text)
    return _count(found) if found else None


def exact_case_asked(text: str) -> bool:
    """Whether a question wants its answer in exactly the right case."""
    return bool(_EXACT_CASE.search(text)) and not _ANY_CASE.search(text)


def _bound(request: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first request for so many digits and no more."""
    for found in request.finditer(text):
        before = text[max(0, found.start() - _NEAR) : found.start()]
        if not _UNBOUND.search(before) and not _OR_MORE.match(text, found.end()):
            return found
    return None


def _count(found: re.Match[str]) -> int:
    word = next(filter(None, found.groups())).lower()
    return _WORDS.index(word) if word in _WORDS else int(word)
