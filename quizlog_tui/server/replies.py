"""What the server sends: errors as one JSON object, and progress as events.

Server-sent events tell of the progress while models are asked: any number of `progress` (what,
name, the decision so far), then one `done` (the same JSON as without events) or `error`. If the
client disconnects, the models' requests are cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from ..errors import QuizlogError, refusal
from ..solver.decision_text import to_data
from ..solver.solve import Progress

_ALIVE_SECONDS = 15.0
"""Seconds without an event after which a comment is sent, to detect a broken connection."""
Work = Callable[[Callable[[Progress], None]], Awaitable[dict[str, Any]]]
_Event = tuple[str, Mapping[str, Any]]


class BadRequestError(QuizlogError):
    """A request that cannot be read."""


def error_data(error: QuizlogError) -> dict[str, Any]:
    """An error as plain data, in the form that commands print with `--json`."""
    return {"schema_version": 1, "error": error.to_dict() | {"exit_code": error.exit_code}}


def encode(data: Mapping[str, Any]) -> bytes:
    """A JSON object as bytes; ASCII only, so that lone surrogates can be encoded too."""
    return json.dumps(data).encode("ascii")


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
