"""Keys are taken out of all text that leaves the program or is kept: one place, one function.

Keys come from the environment and go into one header. Servers echo them in complaints, libraries
in exceptions; so whatever comes back passes here before anybody reads or stores it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, quote_plus

from .decisions.json_value import MAX_DEPTH

STAND_IN = "[key]"
"""What stands where a key stood."""
_LEAST = 6
"""Shorter values are no keys: taking them out would garble ordinary text."""


class Redaction:
    """Knows the keys in use.

    Args:
        keys: Their values.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        forms = {form for key in keys if len(key) >= _LEAST for form in _forms(key)}
        self._forms = sorted(forms, key=len, reverse=True)

    def also(self, keys: Iterable[str]) -> Redaction:
        """One that knows further keys too."""
        both = Redaction(keys)
        both._forms = sorted({*self._forms, *both._forms}, key=len, reverse=True)
        return both

    def clean(self, text: str) -> str:
        """The text with a stand-in where a key was, plain or quoted."""
        for form in self._forms:
            text = text.replace(form, STAND_IN)
        return text

    def clean_bytes(self, data: bytes) -> bytes:
        """The same for the bytes of a file, whatever else they hold."""
        text = data.decode("utf-8", "surrogateescape")
        cleaned = self.clean(text)
        return data if cleaned == text else cleaned.encode("utf-8", "surrogateescape")

    def clean_value(self, value: Any) -> Any:
        """A JSON value with its texts cleaned. Too deep a value stays: it will be refused."""
        return self._clean_value(value, MAX_DEPTH + 1) if self._forms else value

    def _clean_value(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.clean(value)
        if depth and isinstance(value, list):
            return [self._clean_value(item, depth - 1) for item in value]
        if depth and isinstance(value, dict):
            cleaned = self._clean_value
            return {self.clean(key): cleaned(item, depth - 1) for key, item in value.items()}
        return value

    def __repr__(self) -> str:
        return f"Redaction({len(self._forms)} forms)"


def _forms(key: str) -> set[str]:
    escaped = json.dumps(key)[1:-1]
    return {key, escaped, quote(key, safe=""), quote_plus(key), repr(key)[1:-1]}
