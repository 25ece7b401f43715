"""What the server sends: errors as one JSON object with a status, and progress as events.

Server-sent events tell of the progress while models are asked: any number of `progress` (what,
name, the decision so far), then one `done` (the same JSON as without events) or `error`. If the
client disconnects, the models' requests are cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
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
    refusal,
)
from ..solver.decision_text import to_data
from ..solver.solve import Progress
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
_ALIVE_SECONDS = 15.0
"""Seconds without an event after which a comment is sent, to detect a broken connection."""
_PLAIN = {"extra_forbidden": "unknown key", "missing": "is missing"}
_NO_PLACE = ("body", "query", "path", "script", "sheet", "record", "question-form")
Work = Callable[[Callable[[Progress], None]], Awaitable[dict[str, Any]]]
_Event = tuple[str, Mapping[str, Any]]


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


async def events(work: Work) -> AsyncIterator[bytes]:
    """The events of `work` until it ends; it is cancelled if the generator is closed."""
    queue: asyncio.Queue[_Event] = asyncio.Queue()
    task = asyncio.create_task(_work(work, queue))
    try:
        kind = "progress"
        while kind == "progress":
            try:
                async with asyncio.timeout(_ALIVE_SECONDS):
                    kind, data = await queue.get()
            except TimeoutError:
                yield b": still at work\n\n"
                continue
            yield event(kind, data)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _work(work: Work, queue: asyncio.Queue[_Event]) -> None:
    def tell(progress: Progress) -> None:
        data = {"what": progress.what, "name": progress.name}
        queue.put_nowait(("progress", data | {"decision": to_data(progress.decision)}))

    try:
        queue.put_nowait(("done", await work(tell)))
    except Exception as error:
        shown = refusal(error)
        defect = QuizlogError("the server failed", hint="see the messages of the server")
        queue.put_nowait(("error", error_data(shown or defect)))
        if shown is None:
            raise


def event(kind: str, data: Mapping[str, Any]) -> bytes:
    """One event as bytes; encoded JSON contains no newline, so the data is one line."""
    return b"event: %s\ndata: %s\n\n" % (kind.encode("ascii"), encode(data))
