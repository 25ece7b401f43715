"""Progress as server-sent events: what happens while models are asked, then the answer.

Events are `progress` (what, name, the decision as it stands), then one `done` (the same JSON as
without events) or `error`. A reader that leaves ends the asking.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from ..errors import QuizlogError, refusal
from ..solver.decisions.decision_text import to_data
from ..solver.solve import Progress
from .faults import encode, error_data

ALIVE_SECONDS = 15.0
"""After so long without an event a comment is sent, so that a broken line shows."""

Work = Callable[[Callable[[Progress], None]], Awaitable[dict[str, Any]]]
_Event = tuple[str, Mapping[str, Any]]


async def events(work: Work) -> AsyncIterator[bytes]:
    """The events of a piece of work, to its end; it is cancelled when nobody reads on."""
    queue: asyncio.Queue[_Event] = asyncio.Queue()
    task = asyncio.create_task(_worked(work, queue))
    try:
        kind = "progress"
        while kind == "progress":
            try:
                async with asyncio.timeout(ALIVE_SECONDS):
                    kind, data = await queue.get()
            except TimeoutError:
                yield b": still at work\n\n"
                continue
            yield event(kind, data)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _worked(work: Work, queue: asyncio.Queue[_Event]) -> None:
    def tell(progress: Progress) -> None:
        said = {"what": progress.what, "name": progress.name}
        queue.put_nowait(("progress", said | {"decision": to_data(progress.decision)}))

    try:
        queue.put_nowait(("done", await work(tell)))
    except Exception as error:
        shown = refusal(error)
        defect = QuizlogError("the server failed", hint="see its own messages")
        queue.put_nowait(("error", error_data(shown or defect)))
        if shown is None:
            raise


def event(kind: str, data: Mapping[str, Any]) -> bytes:
    """One event; its data is one line, as JSON holds no newline."""
    return b"event: %s\ndata: %s\n\n" % (kind.encode("ascii"), encode(data))
