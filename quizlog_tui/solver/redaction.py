"""Removes keys from all text that leaves the program or is stored.

Keys come from the environment and go into one header. Servers repeat them in error messages,
libraries in exceptions; so everything that comes back is cleaned before it is read or stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, quote_plus

from .decision_text import MAX_DEPTH

STAND_IN = "[key]"
"""The placeholder for a key."""
_LEAST = 6
"""Minimum length of a key: removing shorter values would garble ordinary text."""


class Redaction:
    """Removes the keys in use."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        forms = {form for key in keys if len(key) >= _LEAST for form in _forms(key)}
        self._forms = sorted(forms, key=len, reverse=True)

    def also(self, keys: Iterable[str]) -> Redaction:
        """A redaction that removes further keys too."""
        both = Redaction(keys)
        both._forms = sorted({*self._forms, *both._forms}, key=len, reverse=True)
        return both

    def clean(self, text: str) -> str:
        """The text with each key, plain or escaped, replaced by a placeholder."""
        for form in self._forms:
            text = text.replace(form, STAND_IN)
        return text

    def clean_bytes(self, data: bytes) -> bytes:
        """The content of a file, of any kind, with keys replaced by placeholders."""
        text = data.decode("utf-8", "surrogateescape")
        cleaned = self.clean(text)
        return data if cleaned == text else cleaned.encode("utf-8", "surrogateescape")

    def clean_value(self, value: Any) -> Any:
        """A JSON value with its texts cleaned, except below the depth at which it is refused."""
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
