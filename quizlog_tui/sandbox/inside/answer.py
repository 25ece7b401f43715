"""Converts the value of the variable `answer` to JSON.

It runs in the process of the hostile code, under its limits, as converting an object may run any
code. It accepts numbers, text, lists and mappings, also those of numpy and pandas, and no other
objects.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import math
import pathlib
from typing import Any

DEEPEST = 64
_MOST_BITS = 14_000
"""CPython converts no integer of more than 4300 digits to text."""

_MOMENTS = (datetime.date, datetime.time)
_FRAME = json.JSONEncoder(allow_nan=False, ensure_ascii=True, check_circular=False)


class UnfitAnswer(ValueError):
    """The answer cannot be converted to JSON."""


def encode(mapping: dict[str, Any]) -> bytes:
    """A mapping as JSON text, even if the code has changed the module `json`."""
    return _FRAME.encode(mapping).encode("ascii")


def as_json(value: Any, depth: int = 0) -> Any:
    """The JSON data that a value stands for.

    Raises:
        UnfitAnswer: It has no JSON form.
    """
    if depth > DEEPEST:
        raise UnfitAnswer(f"it holds itself, or is more than {DEEPEST} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float | str):
        return _plain(value)
    if isinstance(value, dict):
        return {_key(key): as_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return _sorted([as_json(item, depth + 1) for item in value])
    if isinstance(value, decimal.Decimal | fractions.Fraction):
        return _exact(value)
    if isinstance(value, _MOMENTS):
        return _moment(value)
    if isinstance(value, pathlib.PurePath):
        return _plain(str(value))
    return as_json(_unwrapped(value), depth + 1)


def _plain(value: float | str) -> Any:
    if isinstance(value, str):
        text = str.__str__(value)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise UnfitAnswer("it holds half a character (a lone surrogate)") from None
        return text
    if isinstance(value, int):
        number = int.__int__(value)
        if number.bit_length() > _MOST_BITS:
            raise UnfitAnswer("it is an integer of more than 4300 digits")
        return number
    real = float.__float__(value)
    if not math.isfinite(real):
        raise UnfitAnswer(f"it holds {real}, which is not a number")
    return real


def _key(value: Any) -> str:
    plain = as_json(value, DEEPEST - 2)
    if isinstance(plain, str):
        return plain
    if plain is None or isinstance(plain, bool | int | float):
        return _FRAME.encode(plain)
    raise UnfitAnswer("a key of its mapping is neither text nor a number")


def _sorted(items: list[Any]) -> list[Any]:
    return sorted(items, key=_FRAME.encode)


def _exact(value: decimal.Decimal | fractions.Fraction) -> Any:
    if isinstance(value, decimal.Decimal) and not value.is_finite():
        raise UnfitAnswer(f"it holds {value}, which is not a number")
    return _plain(int(value) if value == int(value) else float(value))


def _moment(value: Any) -> str:
    # pandas has a date that is not one.
    if value != value:
        raise UnfitAnswer("it holds an invalid date (NaT)")
    return str(value.isoformat())


def _unwrapped(value: Any) -> Any:
    """The Python value of a value of numpy or pandas."""
    kind = type(value)
    library = kind.__module__.split(".")[0]
    if library == "pandas":
        for method in ("to_dict", "tolist", "to_pydatetime"):
            if kind.__name__ == "Series" and method == "to_dict":
                continue
            if hasattr(value, method):
                return value.to_dict("records") if method == "to_dict" else getattr(value, method)()
    if library == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise UnfitAnswer(
        f"a {kind.__name__} is not JSON data: make it a number, text, list or mapping"
    )
