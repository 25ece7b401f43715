"""Decides which answers are equal, by canonical forms: equal answers have equal forms.

There are two equalities. `answer_value` gives the value that episodes hash: what a question does
not ask to be read as a number stays a text, and nothing is rounded or folded. `canonical` gives the
form by which votes are counted. It is laxer, but only by the rules of `RULES`, and a decision
records those by which it counts different answers as one. How exactly a question wants its answer
(decimals, case, lists) is found in its text.

Every rule maps an answer to one form, so that equality is reflexive, symmetric and transitive. The
price is an edge: two computed numbers on either side of a rounding limit stay apart, and a number
half-way between two goes to the even one, as `Decimal` rounds, whichever the other models chose.
"""

from __future__ import annotations

import ast
import base64
import binascii
import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from textwrap import dedent
from typing import Any, Literal, Never

from ...replay.script.input_kinds import (
    INTEGER,
    JSON,
    MATRIX,
    NUMBER,
    TEXT,
    YESNO,
    is_free_text,
)
from ...syntax import UNREADABLE, parse_expression
from ...text import idle
from ..decision import ModelQuestion
from ..decision_text import MAX_DEPTH, answer_fault

_Kind = Literal["bool", "number", "string", "json", "data", "free"]
_NUMERIC = frozenset({NUMBER, INTEGER})
"""The kinds of questions that ask for a number."""


@dataclass(frozen=True)
class NormalForm:
    """An answer as it was read."""

    kind: _Kind
    """The kind of answer."""
    value: Any
    """A bool, Fraction, text, or list or dict of forms."""
    label: str
    """A short text for the value."""
    rules: frozenset[str] = field(default=frozenset(), compare=False)
    """The rules of `RULES` by which it was read."""


# -- the equality of hashes


def answer_value(text: str, kind: str = TEXT) -> object:
    """The value of an answer's text, which episodes hash.

    A text is a number, list or object only if it is the one JSON text that Python writes for it:
    `3.1`, but not `3.10`, `007`, `1e3` or `+5`; `[1, 2]`, but not `[1,2]`. So a script that
    compares texts never refuses an answer with the hash of an accepted one. Other notations are
    read only where the script's own code reads them; there, numbers that Python calls equal have
    one value, as 4 and 4.0. A quoted text keeps its quotes. `null` stays text, because null means
    no answer.

    Args:
        text: The text given to the script.
        kind: The kind of answer that the code of the question declares or reads.
    """
    text = text.strip()
    if is_free_text(kind):
        return text
    if kind in _NUMERIC and (number := _python_number(text, kind)) is not None:
        return number
    value = _json_in(text, plain=kind != JSON)
    if value is None or (kind != JSON and _written(value) != text):
        return text
    return value


def _python_number(text: str, kind: str) -> int | float | None:
    """The number that `float` reads where any number is asked for, else `int`."""
    with suppress(ValueError):
        value = _float(text) if kind == NUMBER else int(text)
        return None if answer_fault(value) else value
    return None


def _float(text: str) -> int | float:
    """The number that `float` reads, as an int if it is whole and every such int is a float."""
    value = float(text)
    return int(value) if abs(value) <= 2**53 and value.is_integer() else value


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _json_in(text: str, *, plain: bool) -> Any:
    """The value of a JSON text; None if it is none, is ambiguous, or is `null`.

    Args:
        text: The text.
        plain: Whether numbers count only in their plain form, and a quoted text not at all.
    """
    try:
        value = (_PLAIN if plain else _ANY).decode(text)
    except (ValueError, RecursionError):
        return None
    is_quoted = plain and isinstance(value, str)
    return None if is_quoted or answer_fault(value) else value


def _plain_float(text: str) -> float:
    if repr(float(text)) != text:
        raise ValueError(text)
    return float(text)


def _plain_int(text: str) -> int:
    if text == "-0":
        raise ValueError(text)
    return int(text)


def _single(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a JSON value")


_ANY = json.JSONDecoder(object_pairs_hook=_single, parse_constant=_no_constant, parse_float=_float)
_PLAIN = json.JSONDecoder(
    object_pairs_hook=_single,
    parse_constant=_no_constant,
    parse_float=_plain_float,
    parse_int=_plain_int,
)


# -- what a question asks for


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
_LISTS = re.compile(
    r"\b(?:lists?|arrays?|tuples?|json|dict(?:ionary|ionaries|s)?|matri(?:x|ces)|vectors?)\b", re.I
)
"""Words of questions that ask for a list or an object."""
_TINY = re.compile(
    r"\bscientific\b|\bsignifican|\bp[- ]?values?\b|\bprobabilit|\blikelihood|\bepsilon\b"
    r"|\b(?:nano|pico|femto|atto)|\bcoulombs?\b|\bplanck|\bboltzmann|\belectron|\bproton|\bneutron"
    r"|(?:\^|\*\*)\s*[({]?\s*[-−]|⁻|/\s*\(?\s*\d+\s*(?:\^|\*\*)|\d[eE][-−]\d|0\.0{9}",
    re.I,
)
"""Words of questions whose answers may be tiny without being zero."""
_PRECISE = re.compile(
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


@dataclass(frozen=True)
class WantedForm:
    """How exactly a question wants answers to be compared."""

    decimals: int | None
    """Number of decimals it asks for, below 0 for tens and more; None if it names none."""
    exact_case: bool
    """Whether upper and lower case matter, and spaces beside punctuation."""
    figures: int | None = None
    """Number of significant figures it asks for."""
    number: bool = False
    """Whether it asks for a number."""
    lists: bool = False
    """Whether it asks for a list or an object."""
    tiny: bool = False
    """Whether tiny numbers may be meant."""
    precise: bool = False
    """Whether it asks for more digits than computed numbers are compared by."""


@lru_cache(maxsize=64)
def wanted(question: ModelQuestion) -> WantedForm:
    """How exactly a question wants answers to be compared, from its text and kind."""
    text = _asked_text(question)
    decimals, figures = _decimals_asked(text), _figures_asked(text)
    is_rounded = question.input_type == TEXT and (decimals, figures) != (None, None)
    return WantedForm(
        decimals,
        _exact_case_asked(text),
        figures if decimals is None else None,
        is_rounded or question.input_type in _NUMERIC,
        question.input_type in (JSON, MATRIX) or bool(_LISTS.search(text)),
        bool(_TINY.search(text)),
        bool(_PRECISE.search(text)),
    )


def _asked_text(question: ModelQuestion) -> str:
    """The text of the question, with its context if it has only a word or two."""
    if len(question.text) < _SHORT:
        return f"{question.text}\n{question.context}"
    return question.text


def _decimals_asked(text: str) -> int | None:
    """The number of decimals that a question asks for, below 0 for tens and more, else None."""
    if found := _bound(_DECIMALS, text):
        return _count(found)
    if found := _bound(_PLACE, text) or _bound(_NEAREST, text):
        if found[1]:
            return _UNITS[found[1].lower().replace("-", " ")]
        whole, _, part = found[2].partition(".")
        return 1 - len(whole) if whole.strip("0") else len(part)
    return 0 if _bound(_UNIT_ALONE, text) else None


def _figures_asked(text: str) -> int | None:
    """The number of significant figures that a question asks for, else None."""
    found = _bound(_FIGURES, text)
    return _count(found) if found else None


def _exact_case_asked(text: str) -> bool:
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


# -- the table of the rules by which a vote is laxer than a hash


@dataclass(frozen=True)
class _EqualityRule:
    """A rule by which different answers count as one in a vote."""

    stage: Literal["reading", "blanks", "numeral", "number", "text"]
    """When it is applied: to an answer read by `normal_form`, or to the part that it names."""
    reason: str
    """Why the answers are the same."""
    apply: Callable[[Any, WantedForm], Any] = lambda value, how: value


_DIGITS = 12
"""Number of significant digits of a computed number that count, unless more are asked for."""
_ZERO = Fraction(1, 10**_DIGITS)
"""A computed number nearer to 0 than this is 0."""
_MINUS = re.compile(r"^[−‐‑‒–﹣－](?=[\d.]|\s)|(?<=[eE])[−‐‑‒–﹣－]")
_GROUPED = re.compile(
    r"([+-]?) ?([1-9]\d{0,2}(?:([ ,'’_٬])\d{3})(?:\3\d{3})*|[1-9]\d?(?:,\d\d)+,\d{3})(\.\d+)?",
    re.A,
)
_LIST_SIGNS = re.compile(r" ?([,;:!?()\[\]{}%]) ?")
_BRACKETS = ("[", "(", "{")
"""What begins a text in which indentation has no meaning."""
_OPERATORS = re.compile(r" ([=+*/|&<>~^·×÷−–—-]) ")


def _unmarked(text: str, how: WantedForm) -> str:
    return text if text.isascii() else _squeezed(idle().sub("", text), how)


def _composed(text: str, how: WantedForm) -> str:
    return unicodedata.normalize("NFC", text)


def _squeezed(text: str, how: WantedForm) -> str:
    lines = [line for line in dedent(text).strip().splitlines() if line.strip()]
    if text.lstrip()[:1] in _BRACKETS or not any(line[0].isspace() for line in lines):
        return " ".join(text.split())
    return "\n".join(line[: -len(line.lstrip())] + " ".join(line.split()) for line in lines)


def _ascii_digits(text: str, how: WantedForm) -> str:
    if text.isascii():
        return text
    wide = text.translate({0xFF0B: "+", 0xFF0C: ",", 0xFF0E: "."})
    digits = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in wide)
    return _MINUS.sub("-", digits)


def _ungrouped(text: str, how: WantedForm) -> str:
    found = _GROUPED.fullmatch(text) if how.number else None
    if not found:
        return re.sub(r"^([+-]) (?=[\d.])", r"\1", text) if how.number else text
    whole = re.sub(r"\D", "", found[2])
    return f"{found[1]}{whole}{found[4] or ''}"


def _not_nearly_zero(value: Fraction, how: WantedForm) -> Fraction:
    return Fraction(0) if abs(value) < _ZERO and not (how.tiny or how.precise) else value


def _computed(value: Fraction, how: WantedForm) -> Fraction:
    if value.denominator == 1 or how.precise or not _is_float(value):
        return value
    return round(value, max(0, _DIGITS - _magnitude(value)))


def _is_float(value: Fraction) -> bool:
    """Whether it is a number as Python writes a float; one with more digits was not computed."""
    with suppress(OverflowError):
        return Fraction(repr(float(value))) == value
    return False


def _to_decimals(value: Fraction, how: WantedForm) -> Fraction:
    if how.decimals is None:
        return value
    found = round(value, how.decimals)
    return found if how.decimals >= 0 else found or value  # 3.1 may be meant in millions


def _to_figures(value: Fraction, how: WantedForm) -> Fraction:
    if how.figures is None or not value:
        return value
    return round(value, how.figures - _magnitude(value))


def _close(text: str, how: WantedForm) -> str:
    if how.exact_case or "\n" in text:
        return text
    return _LIST_SIGNS.sub(r"\1", _OPERATORS.sub(r"\1", text))


def _folded(text: str, how: WantedForm) -> str:
    return text if how.exact_case or "\n" in text else text.casefold()


RULES: dict[str, _EqualityRule] = {
    "value": _EqualityRule("reading", "a number, list or object is one in any JSON notation"),
    "words": _EqualityRule("reading", "yes, y, true and True are one answer to one question"),
    "option": _EqualityRule("reading", "an option is named by its text or letter in any case"),
    "notation": _EqualityRule("reading", "where a number is asked for, 007, +7, 7. and 7e0 are 7"),
    "python": _EqualityRule("reading", "where a list is asked for, Python's notation gives one"),
    "accents": _EqualityRule("blanks", "Unicode has two codes for one accented letter", _composed),
    "spaces": _EqualityRule("blanks", "the width of a space has no meaning", _squeezed),
    "marks": _EqualityRule("blanks", "marks of no width cannot be seen", _unmarked),
    "digits": _EqualityRule(
        "numeral", "typographic signs and wide digits are digits", _ascii_digits
    ),
    "thousands": _EqualityRule("numeral", "a number may be written in groups", _ungrouped),
    "zero": _EqualityRule("number", "computing leaves a rest where 0 is meant", _not_nearly_zero),
    "precision": _EqualityRule("number", f"computing errs after {_DIGITS} digits", _computed),
    "decimals": _EqualityRule("number", "the question asks for so many decimals", _to_decimals),
    "figures": _EqualityRule("number", "the question asks for so many figures", _to_figures),
    "punctuation": _EqualityRule("text", "a space beside punctuation has no meaning", _close),
    "case": _EqualityRule("text", "case has no meaning unless the question says so", _folded),
}
"""All rules, in the order in which they are applied; `models.md` explains them."""


def _applied(stage: str, value: Any, how: WantedForm) -> tuple[Any, frozenset[str]]:
    """A value after the rules of a stage, and the names of those that changed it."""
    used = set()
    for name, rule in RULES.items():
        if rule.stage == stage and (found := rule.apply(value, how)) != value:
            value = found
            used.add(name)
    return value, frozenset(used)


def _magnitude(value: Fraction) -> int:
    """The number of digits before the point; 0 or less if the value is below 0.1."""
    top, bottom = abs(value.numerator), value.denominator
    guess = len(str(top)) - len(str(bottom))
    return guess if top < Fraction(10) ** guess * bottom else guess + 1


_MAX_DIGITS = 400
"""Maximum length of a numeral; longer ones are compared as texts."""
_NUMERAL = re.compile(r"[+-]?(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.A)


def _numeral(flat: str, how: WantedForm) -> tuple[Fraction, frozenset[str]] | None:
    """The number in a text without idle blanks, and the rules by which it was read.

    It is one in its plain form, or in any notation if the question asks for a number.
    """
    if len(flat) > _MAX_DIGITS:
        return None
    text, rules = _applied("numeral", flat, how)
    if type(_json_in(text, plain=True)) in (int, float):
        return Fraction(text), rules
    if how.number and _NUMERAL.fullmatch(text):
        return Fraction(text), rules | {"notation"}
    return None


# -- how an answer is read, for comparison only: it is submitted unchanged


class NoAnswerError(ValueError):
    """A value is not an answer; the text says why."""


_DATA_URI = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),(.*)", re.S | re.I)
_GIVEN_UP = re.compile(
    r"\s*(?:error\s*[:!]\s*)?(?:unable to (?:solve|answer|determine|complete)"
    r"|max(?:imum)? iterations reached|(?:request|execution|code) timed out)",
    re.I,
)
"""Phrases of agents that have no answer."""
_ERROR = re.compile(
    r"\s*(?:error\b\s*[:!]|(?:\w+\.)*\w+(?:Error|Exception)\s*:|traceback \(most recent)", re.I
)
"""Beginnings of error messages."""
_OF_ERRORS = re.compile(
    r"(?<!squared )(?<!square )(?<!absolute )(?<!standard )error|exception"
    r"|\b(?:traceback|messages?|warnings?|raises?|raised|fails?|failures?)\b",
    re.I,
)
"""Words of questions to which the text of an error may be the answer."""
_NOT_FINITE = frozenset({"nan", "+nan", "-nan", "inf", "+inf", "-inf", "infinity", "-infinity"})
_YES = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}


def normal_form(value: Any, question: ModelQuestion) -> NormalForm:
    """The normal form of an answer to a question.

    Raises:
        NoAnswerError: The value is nothing, blank, not finite, or the text of an error.
    """
    if value is None:
        raise NoAnswerError("no answer")
    if isinstance(value, str):
        return _text_form(value, question)
    form = _plain_form(value, question, MAX_DEPTH)
    return _option_form(form.label, question) or form


def _option_form(label: str, question: ModelQuestion) -> NormalForm | None:
    """The form of the option that a text names, if it does."""
    chosen = _choice(label, question)
    return None if chosen is None else NormalForm("string", chosen, chosen, _OPTION)


_OPTION = frozenset({"option"})


def _text_form(text: str, question: ModelQuestion) -> NormalForm:
    flat, rules = _applied("blanks", text, wanted(question))
    if not flat:
        raise NoAnswerError("the answer is blank")
    if form := _option_form(flat, question):
        return replace(form, rules=form.rules | rules)
    if _is_failure(text, question):
        raise NoAnswerError("the answer is the text of an error")
    if is_free_text(question.input_type):
        return NormalForm("free", flat, " ".join(flat.split()), rules)
    return _plain_form(text, question, MAX_DEPTH)


def _is_failure(text: str, question: ModelQuestion) -> bool:
    """Whether a text reports a failure, of an agent or of code that caught its own error."""
    if _GIVEN_UP.match(text):
        return True
    may_be_one = question.input_type not in _NUMERIC and _OF_ERRORS.search(_asked_text(question))
    return bool(_ERROR.match(text)) and not may_be_one


def _choice(flat: str, question: ModelQuestion) -> str | None:
    """The option that a text names, regardless of case and of punctuation after its letter."""
    bare = flat.casefold().rstrip(".):")
    return next(
        (c for c in map(str.casefold, question.choices) if c in (bare, flat.casefold())), None
    )


def _plain_form(value: Any, question: ModelQuestion, depth: int) -> NormalForm:
    if depth == 0:
        raise NoAnswerError(f"the answer is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, bool):
        return NormalForm("bool", value, str(value).lower())
    if isinstance(value, (int, float)):
        return _number_form(value)
    if isinstance(value, str):
        return _string_form(value, question, depth)
    if isinstance(value, Mapping):
        items = {str(k): _inner(v, question, depth) for k, v in sorted(value.items())}
        label = ",".join(f"{json.dumps(key)}:{form.label}" for key, form in items.items())
        return NormalForm("json", items, f"{{{label}}}")
    if isinstance(value, (list, tuple)):
        forms = [_inner(item, question, depth) for item in value]
        return NormalForm("json", forms, f"[{','.join(form.label for form in forms)}]")
    raise NoAnswerError(f"the answer is not a JSON value but {type(value).__name__}")


def _inner(value: Any, question: ModelQuestion, depth: int) -> NormalForm:
    """The form of a value inside a list or object, where null and blanks are values too."""
    if value is None:
        return NormalForm("string", None, "null")
    form = _plain_form(value, question, depth - 1)
    return replace(form, label=json.dumps(form.label)) if form.kind == "string" else form


def _number_form(number: int | float) -> NormalForm:
    if isinstance(number, float) and not math.isfinite(number):
        raise NoAnswerError("the answer is not a finite number")
    if isinstance(number, int) and number.bit_length() > _MAX_DIGITS * 4:
        return NormalForm("string", hex(number), hex(number))
    return _fraction_form(Fraction(str(number)))


def _fraction_form(value: Fraction) -> NormalForm:
    whole = value.denominator == 1
    return NormalForm("number", value, str(value.numerator) if whole else repr(_as_float(value)))


def _as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _string_form(text: str, question: ModelQuestion, depth: int) -> NormalForm:
    flat, rules = _applied("blanks", text, wanted(question))
    form = _value_form(flat, question, depth) or _data_form(text)
    form = form or NormalForm("string", flat, " ".join(flat.split()))
    return replace(form, rules=form.rules | rules)


def _value_form(flat: str, question: ModelQuestion, depth: int) -> NormalForm | None:
    """The form of a text that stands for another value: a word, a number, a list or an object."""
    word = flat.casefold()
    if word in _NOT_FINITE and question.input_type in _NUMERIC:
        raise NoAnswerError("the answer is not a finite number")
    if question.input_type == YESNO and word.rstrip(".!") in _YES:
        return replace(_plain_form(_YES[word.rstrip(".!")], question, depth), rules=_BY_WORD)
    if word in ("true", "false"):
        return replace(_plain_form(word == "true", question, depth), rules=_BY_WORD)
    if number := _numeral(flat, wanted(question)):
        return replace(_fraction_form(number[0]), rules=number[1])
    return _parts_form(flat, question, depth)


_BY_WORD = frozenset({"words"})


def _parts_form(flat: str, question: ModelQuestion, depth: int) -> NormalForm | None:
    """The form of a list or object that is written as JSON, or as Python where one is asked for."""
    if flat[:1] not in ("[", "{", "("):
        return None
    how = wanted(question)
    value, rules = _json_in(flat, plain=not (how.lists or how.number)), frozenset[str]()
    if value is None and how.lists:
        value, rules = _python_value(flat), frozenset({"python"})
    try:
        form = None if value is None else _plain_form(value, question, depth - 1)
    except NoAnswerError:
        return None
    return form and replace(form, rules=form.rules | rules)


def _python_value(text: str) -> Any:
    """The list or object that a text is in Python's notation; None if it is none for JSON."""
    try:
        python = ast.literal_eval(parse_expression(text))
        value = json.loads(json.dumps(python, allow_nan=False))
    except (TypeError, *UNREADABLE):
        return None
    return value if isinstance(value, (list, dict)) and not answer_fault(value) else None


def _data_form(text: str) -> NormalForm | None:
    """The form of a data URI: its type, and a digest of its bytes."""
    found = _DATA_URI.fullmatch(text.strip())
    if not found or ";base64" not in found[2].lower():
        return None
    try:
        data = base64.b64decode(re.sub(r"\s", "", found[3]), validate=True)
    except (binascii.Error, ValueError):
        return None
    mime, digest = found[1].lower(), hashlib.sha256(data).hexdigest()
    return NormalForm("data", (mime, digest), f"{mime} {digest[:12]}")


# -- the equality of votes


@dataclass(frozen=True)
class _CanonicalForm:
    """What equal answers have in common."""

    key: Hashable
    """Equal for equal answers, different for others."""
    rules: frozenset[str] = field(default=frozenset(), compare=False)
    """The rules of `RULES` that changed the answer."""


def canonical(form: NormalForm, how: WantedForm) -> _CanonicalForm:
    """The canonical form of an answer."""
    if form.kind == "json":
        return _canonical_parts(form, how)
    value, rules = form.value, frozenset[str]()
    if form.kind == "number":
        value, rules = _applied("number", value, how)
    elif form.kind == "string" and value is not None:
        value, rules = _applied("text", value, how)
    return _CanonicalForm((form.kind, value), form.rules | rules)


def _canonical_parts(form: NormalForm, how: WantedForm) -> _CanonicalForm:
    named = isinstance(form.value, dict)
    names = tuple(form.value) if named else None
    parts = [canonical(each, how) for each in (form.value.values() if named else form.value)]
    rules = frozenset().union(form.rules, *(each.rules for each in parts))
    return _CanonicalForm((form.kind, names, tuple(each.key for each in parts)), rules)


def same(one: NormalForm, other: NormalForm, how: WantedForm) -> bool:
    """Whether two answers count as equal."""
    return canonical(one, how) == canonical(other, how)


def is_inexact(form: NormalForm, how: WantedForm) -> bool:
    """Whether a number in an answer is not the one that its class stands for."""
    return any(RULES[name].stage == "number" for name in canonical(form, how).rules)


def grouped(forms: Sequence[NormalForm], how: WantedForm) -> list[list[int]]:
    """The indices of forms in classes of equal ones."""
    groups: dict[_CanonicalForm, list[int]] = {}
    for index, form in enumerate(forms):
        groups.setdefault(canonical(form, how), []).append(index)
    return list(groups.values())


def rules_told(forms: Iterable[NormalForm], how: WantedForm) -> tuple[str, ...]:
    """The rules by which different answers count as one, such as `case` or `decimals=2`."""
    used = frozenset[str]().union(*(canonical(form, how).rules for form in forms)) or {"value"}
    counts = {"decimals": how.decimals, "figures": how.figures}
    return tuple(f"{name}={counts[name]}" if name in counts else name for name in sorted(used))
