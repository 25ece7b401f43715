"""The routes of tasks: `POST /run` and `POST /` start one, `GET /tasks` shows their state.

A trigger is answered at once, whatever is running. The secret is compared in constant time and
passed on only to the task that it starts. Wrong secrets are counted by address, which only makes
guessing slow, as the secret's length protects it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from ..errors import LimitError, QuizlogError, UsageError, error_data
from ..webquiz.task.task import TaskRequest, request_fault
from ..webquiz.task.tasks import Tasks
from .admission import READ_SECONDS, TRIGGERS, late_body
from .bodies import STARTED, TRIGGER
from .replies import BadRequestError, encode, event

_MAX_TRIGGER = 100_000
"""Maximum number of bytes in a trigger's body."""
_MOST_GUESSES = 20
"""Maximum number of wrong secrets from an address within `_GUESS_SECONDS`."""
_GUESS_SECONDS = 60.0
_ADDRESSES = 1000
"""Maximum number of addresses remembered, the most recent ones."""


def tasks_router(tasks: Tasks) -> APIRouter:
    """The routes of tasks. Whoever opened `tasks` with `quizlog_tui.open_tasks` closes it.

    Args:
        tasks: The tasks. If their settings have no `USER_SECRET`, every trigger is refused.
    """
    router = APIRouter()
    _add_triggers(router, tasks)

    @router.get("/tasks", summary="The state of all tasks")
    async def listed() -> Response:
        return _json({"schema_version": 1, "tasks": await tasks.list()})

    @router.get("/tasks/{task_id}", summary="One task with its pages")
    async def one(task_id: str) -> Response:
        try:
            return _json(await tasks.get(task_id))
        except UsageError as error:
            return _fault(404, error)

    @router.get("/tasks/{task_id}/events", summary="A task's changes as server-sent events")
    async def events(task_id: str) -> Any:
        try:
            await tasks.get(task_id)
        except UsageError as error:
            return _fault(404, error)
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(
            _stream(tasks, task_id), media_type="text/event-stream", headers=headers
        )

    return router


def _add_triggers(router: APIRouter, tasks: Tasks) -> None:
    guesses = _Guesses()

    async def run(request: Request) -> Response:
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await _body(request)
        except TimeoutError:
            return _fault(408, late_body(), {"Connection": "close"})
        if body is None:
            hint = "send only email, secret and url"
            return _fault(413, _of_body(f"the body has more than {_MAX_TRIGGER} bytes", hint))
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            return _fault(400, _of_body("the body is not JSON", "send a JSON object"))
        address = request.client.host if request.client else ""
        return await _triggered(tasks, data, partial(guesses.wait, address))

    for path in sorted(TRIGGERS):
        router.add_api_route(
            path,
            run,
            methods=["POST"],
            summary="Start a task",
            responses=STARTED,
            openapi_extra=TRIGGER,
        )


def _of_body(message: str, hint: str) -> QuizlogError:
    return BadRequestError(message, where="body", hint=hint)


async def _body(request: Request) -> bytes | None:
    """The request's body; None if it is too long."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > _MAX_TRIGGER:
            return None
    return bytes(data)


async def _triggered(tasks: Tasks, data: Any, wait: Callable[[float], float]) -> Response:
    fault = request_fault(data)
    if fault:
        return _fault(400, fault)
    if not is_secret(data["secret"], tasks.settings.user_secret):
        if seconds := wait(time.monotonic()):
            pause = str(math.ceil(seconds))
            many = LimitError("too many wrong secrets", where="secret", hint=f"wait {pause} s")
            return _fault(429, many, {"Retry-After": pause})
        hint = "send the USER_SECRET that the server was started with"
        return _fault(403, UsageError("the secret is wrong", where="secret", hint=hint))
    try:
        task = await tasks.start(TaskRequest(data["email"], data["secret"], data["url"]))
    except UsageError as error:
        return _fault(400, error)
    except LimitError as error:
        return _fault(429, error, {"Retry-After": "30"})
    return _json({"status": "accepted", "task_id": task})


class _Guesses:
    """The times of recent wrong secrets, by address."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str, now: float) -> float:
        """Count a wrong secret; return 0, or the seconds to wait if there were too many."""
        times = self._times.setdefault(address, deque(maxlen=_MOST_GUESSES))
        self._times.move_to_end(address)
        if len(self._times) > _ADDRESSES:
            self._times.popitem(last=False)
        oldest = times[0] + _GUESS_SECONDS if len(times) == _MOST_GUESSES else now
        if oldest > now:
            return oldest - now
        times.append(now)
        return 0.0


def is_secret(given: str, secret: str) -> bool:
    """Whether a given secret is right, compared in constant time; an empty one never is."""
    sides = (text.encode("utf-8", "surrogatepass") for text in (given, secret))
    return bool(secret) and hmac.compare_digest(*sides)


def _json(
    data: Mapping[str, Any], status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    return Response(encode(data), status, headers, "application/json")


def _fault(status: int, error: QuizlogError, headers: dict[str, str] | None = None) -> Response:
    return _json(error_data(error), status, headers)


async def _stream(tasks: Tasks, task: str) -> AsyncIterator[bytes]:
    async for state in tasks.events(task):
        yield event("task", state)
