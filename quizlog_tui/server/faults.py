"""Errors as HTTP responses: a status, and one JSON object with message, place and hint."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import (
    CancelledError,
    ConfigError,
    ConflictError,
    DecisionError,
    LimitError,
    LockedError,
    MachineError,
    QuizlogError,
    RecordError,
    ScriptError,
    UsageError,
)
from .lookup import NotServedError

_STATUS: dict[type[QuizlogError], int] = {
    NotServedError: 404,
    UsageError: 409,
    ConflictError: 409,
    LockedError: 409,
    RecordError: 422,
    ScriptError: 422,
    DecisionError: 422,
    LimitError: 504,
    MachineError: 503,
    ConfigError: 503,
    CancelledError: 503,
}
"""The HTTP status of each error: the state forbids a move (409), a file is invalid (422), a script
went over its limit (504), the server is unable (503)."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


class BadRequestError(QuizlogError):
    """A request that cannot be read."""


def status_of(error: QuizlogError) -> int:
    """The HTTP status of an error; 507 if a full disk caused it."""
    if comes_from_full_disk(error):
        return 507
    kinds = type(error).__mro__
    return next((_STATUS[kind] for kind in kinds if kind in _STATUS), 400)


def comes_from_full_disk(error: BaseException | None) -> bool:
    """Whether an error or one of its causes is a full disk or an exhausted quota."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return True
        error = error.__cause__ or error.__context__
    return False


def error_data(error: QuizlogError) -> dict[str, Any]:
    """An error as plain data, in the form that commands print with `--json`."""
    return {"schema_version": 1, "error": error.to_dict() | {"exit_code": error.exit_code}}


def encode(data: Mapping[str, Any]) -> bytes:
    """A JSON object as bytes; ASCII only, so that lone surrogates can be encoded too."""
    return json.dumps(data).encode("ascii")


def first_fault(faults: Sequence[Any]) -> tuple[int, QuizlogError]:
    """The HTTP status and the one-line error for the first fault in a request."""
    fault = faults[0]
    if fault["type"] == "json_invalid":
        reason = fault.get("ctx", {}).get("error", fault["msg"])
        return 400, BadRequestError(f"the body is not JSON: {reason}")
    words = [str(part) for part in fault["loc"] if part not in _NO_PLACE]
    hint = "see /openapi.json"
    message = _PLAIN.get(fault["type"], fault["msg"])
    return 422, BadRequestError(message, where=".".join(words) or "body", hint=hint)


_PLAIN = {"extra_forbidden": "unknown key", "missing": "is missing"}
_NO_PLACE = ("body", "query", "path", "script", "sheet", "record", "question-form")
