"""The notation of times in an episode, which no JSON reader converts.

It has `T`, six digits of fraction and no zone; some loaders turn shorter notations into timestamps.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")
"""`YYYY-MM-DDTHH:MM:SS.ffffff` in UTC."""
EPOCH = "1970-01-01T00:00:00.000000"
"""Stands for an unknown time."""


def stamp(value: object) -> str | None:
    """An ISO 8601 text or seconds since 1970 in this notation; None for anything else."""
    try:
        if isinstance(value, (int, float)):
            time = datetime.fromtimestamp(value, UTC)
        else:
            time = datetime.fromisoformat(str(value))
        if time.tzinfo:
            time = time.astimezone(UTC).replace(tzinfo=None)
        return f"{time:%Y-%m-%dT%H:%M:%S.%f}".rjust(26, "0")
    except (ValueError, OverflowError, OSError):
        return None


def stamp_of(nanoseconds: int) -> str | None:
    """Nanoseconds since 1970 in this notation, cut to microseconds."""
    seconds, rest = divmod(nanoseconds, 10**9)
    whole = stamp(seconds)
    return whole and f"{whole[:-6]}{rest // 1000:06}"


def is_stamp(text: str) -> bool:
    """Whether a text is a time in this notation."""
    if FORM.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
