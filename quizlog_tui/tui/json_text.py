"""Tells whether a text is JSON, and what is wrong if not. Uses no widgets."""

from __future__ import annotations

import json

from ..text import one_line


def is_json(text: str) -> bool:
    """Whether a text is one JSON value."""
    return json_problem(text) is None


def json_problem(text: str) -> str | None:
    """Why and where a text is not valid JSON; None if it is valid."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return one_line(f"line {error.lineno}, column {error.colno}: {error.msg}")
    except (ValueError, RecursionError) as error:
        return one_line(str(error) or "nested too deep")
    return None
