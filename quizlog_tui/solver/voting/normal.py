"""Normal forms of answers, for comparison only.

The raw answer is submitted unchanged. A value that is not an answer (the text of an error, NaN, a
blank) has no normal form.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from ...replay.script.input_kinds import INTEGER, NUMBER, YESNO, is_free_text
from ..decisions.decision import ModelQuestion
from ..decisions.json_value import MAX_DEPTH
from . import png

Kind = Literal["bool", "number", "string", "json", "data", "free"]


@dataclass(frozen=True)
class NormalForm:
    """The normal form of an answer."""

    kind: Kind
    """The kind of answer."""
    value: Any
    """A value comparable within its kind: a bool, Fraction, text, or list or dict of forms."""
    label: str
    """A short text for the value."""


class NoAnswerError(ValueError):
    """A value is not an answer; the text says why."""


_SHORT = 20
"""A prompt with fewer characters does not describe the question without its context."""
MAX_DIGITS = 400
"""Maximum length of a numeral; longer ones are compared as texts."""

_NUMERAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.A)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.A)
_PADDED = re.compile(r"[+-]?0\d", re.A)
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
_NUMERIC = frozenset({NUMBER, INTEGER})


def normal_form(value: Any, question: ModelQuestion) -> NormalForm:
    """The normal form of an answer to a question.

    Raises:
        NoAnswerError: The value is nothing, blank, not finite, or the text of an error.
    """
    if value is None:
        raise NoAnswerError("no answer")
    if isinstance(value, str):
        return _text_form(value, question)
    return _plain_form(value, question, MAX_DEPTH)


def _text_form(text: str, question: ModelQuestion) -> NormalForm:
    flat = squeezed(text)
    if not flat:
        raise NoAnswerError("the answer is blank")
    chosen = _choice(flat, question)
    if chosen is not None:
        return NormalForm("string", chosen, chosen)
    if _is_failure(text, question):
        raise NoAnswerError("the answer is the text of an error")
    if is_free_text(question.input_type):
        return NormalForm("free", flat, flat)
    return _plain_form(text, question, MAX_DEPTH)


def _is_failure(text: str, question: ModelQuestion) -> bool:
    """Whether a text reports a failure, of an agent or of code that caught its own error."""
    if _GIVEN_UP.match(text):
        return True
    may_be_one = question.input_type not in _NUMERIC and _OF_ERRORS.search(asked_text(question))
    return bool(_ERROR.match(text)) and not may_be_one


def asked_text(question: ModelQuestion) -> str:
    """The text of the question, with its context if it has only a word or two."""
    if len(question.text) < _SHORT:
        return f"{question.text}\n{question.context}"
    return question.text


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
    return (
        NormalForm("string", form.value, json.dumps(form.label)) if form.kind == "string" else form
    )


def _number_form(number: int | float) -> NormalForm:
    if isinstance(number, float) and not math.isfinite(number):
        raise NoAnswerError("the answer is not a finite number")
    if isinstance(number, int) and number.bit_length() > MAX_DIGITS * 4:
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
    flat = squeezed(text)
    word = flat.casefold()
    if word in _NOT_FINITE and question.input_type in _NUMERIC:
        raise NoAnswerError("the answer is not a finite number")
    if question.input_type == YESNO and word.rstrip(".!") in _YES:
        return _plain_form(_YES[word.rstrip(".!")], question, depth)
    if word in ("true", "false"):
        return _plain_form(word == "true", question, depth)
    number = _numeral(flat, question)
    if number is not None:
        return _fraction_form(number)
    return _json_form(flat, question, depth) or _data_form(text) or NormalForm("string", flat, flat)


def _numeral(flat: str, question: ModelQuestion) -> Fraction | None:
    """The number in a text; one with leading zeros is text unless the question wants a number."""
    if len(flat) > MAX_DIGITS:
        return None
    numeric = question.input_type in _NUMERIC
    if numeric and _GROUPED.fullmatch(flat):
        flat = flat.replace(",", "")
    if not _NUMERAL.fullmatch(flat) or (_PADDED.match(flat) and not numeric):
        return None
    return Fraction(flat)


def _json_form(flat: str, question: ModelQuestion, depth: int) -> NormalForm | None:
    """The form of a list or object that is written as JSON text."""
    if flat[:1] not in ("[", "{"):
        return None
    try:
        return _plain_form(json.loads(flat), question, depth - 1)
    except (ValueError, RecursionError):
        return None


def _data_form(text: str) -> NormalForm | None:
    """The form of a data URI: its type, and a digest of its pixels or else of its bytes."""
    found = _DATA_URI.fullmatch(text.strip())
    if not found or ";base64" not in found[2].lower():
        return None
    try:
        data = base64.b64decode(re.sub(r"\s", "", found[3]), validate=True)
    except (binascii.Error, ValueError):
        return None
    mime = found[1].lower()
    pixels = png.pixels(data) if mime == "image/png" else None
    digest = hashlib.sha256(data if pixels is None else pixels).hexdigest()
    return NormalForm("data", (mime, digest), f"{mime} {digest[:12]}")


def squeezed(text: str) -> str:
    """A text in composed Unicode form, with runs of blanks reduced to one and none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).split())
