"""Reads answers into normal forms, for comparison only; `equality` compares them.

The raw answer is submitted unchanged. A value that is not an answer (the text of an error, NaN, a
blank) has no normal form.
"""

from __future__ import annotations

import ast
import base64
import binascii
import hashlib
import json
import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...replay.script.input_kinds import YESNO, is_free_text
from ..decision import ModelQuestion
from ..decision_text import MAX_DEPTH, answer_fault
from .equality import (
    MAX_DIGITS,
    NUMERIC,
    NormalForm,
    applied,
    asked_text,
    json_in,
    numeral,
    wanted,
)


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
    flat, rules = applied("blanks", text, wanted(question))
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
    may_be_one = question.input_type not in NUMERIC and _OF_ERRORS.search(asked_text(question))
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
    flat, rules = applied("blanks", text, wanted(question))
    form = _value_form(flat, question, depth) or _data_form(text)
    form = form or NormalForm("string", flat, " ".join(flat.split()))
    return replace(form, rules=form.rules | rules)


def _value_form(flat: str, question: ModelQuestion, depth: int) -> NormalForm | None:
    """The form of a text that stands for another value: a word, a number, a list or an object."""
    word = flat.casefold()
    if word in _NOT_FINITE and question.input_type in NUMERIC:
        raise NoAnswerError("the answer is not a finite number")
    if question.input_type == YESNO and word.rstrip(".!") in _YES:
        return replace(_plain_form(_YES[word.rstrip(".!")], question, depth), rules=_WORDS)
    if word in ("true", "false"):
        return replace(_plain_form(word == "true", question, depth), rules=_WORDS)
    if number := numeral(flat, wanted(question)):
        return replace(_fraction_form(number[0]), rules=number[1])
    return _parts_form(flat, question, depth)


_WORDS = frozenset({"words"})


def _parts_form(flat: str, question: ModelQuestion, depth: int) -> NormalForm | None:
    """The form of a list or object that is written as JSON, or as Python where one is asked for."""
    if flat[:1] not in ("[", "{", "("):
        return None
    how = wanted(question)
    value, rules = json_in(flat, plain=not (how.lists or how.number)), frozenset[str]()
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
        with warnings.catch_warnings(action="ignore"):
            value = json.loads(json.dumps(ast.literal_eval(text), allow_nan=False))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
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
