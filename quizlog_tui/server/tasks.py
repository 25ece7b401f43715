"""The gateway of tasks: `POST /run` and `POST /`, and how tasks stand. Works none itself.

A trigger is answered at once, whatever runs. The secret is compared in constant time and goes no
further than the task it starts.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from ..errors import LimitError, QuizlogError, UsageError
from ..webquiz.task.task import TaskRequest, request_fault
from ..webquiz.task.tasks import Tasks
from .admission.guesses import Guesses
from .admission.shield import READ_SECONDS, late_body
from .events import event
from .faults import BadRequestError, encode, error_data
from .schema import STARTED, TRIGGER
from .triggers import TRIGGERS

MAX_TRIGGER = 100_000
"""Bytes of a trigger; larger ones are refused."""


def tasks_router(tasks: Tasks) -> APIRouter:
    """The routes; `tasks` is closed by whoever opened it with `quizlog_tui.open_tasks`.

    Args:
        tasks: Works them. Without a `USER_SECRET` in its settings every trigger is refused.
    """
    router = APIRouter()
    _add_triggers(router, tasks)

    @router.get("/tasks", summary="How all tasks stand")
    async def listed() -> Response:
        return _json({"schema_version": 1, "tasks": await tasks.list()})

    @router.get("/tasks/{task_id}", summary="One task with its pages")
    async def one(task_id: str) -> Response:
        try:
            return _json(await tasks.get(task_id))
        except UsageError as error:
            return _fault(404, error)

    @router.get("/tasks/{task_id}/events", summary="A task as it goes on, as server-sent events")
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
    guesses = Guesses()

    async def run(request: Request) -> Response:
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await _body(request)
        except TimeoutError:
            return _fault(408, late_body(), {"Connection": "close"})
        if body is None:
            hint = "email, secret and url are all it needs"
            return _fault(413, _of_body(f"the body has more than {MAX_TRIGGER} bytes", hint))
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            return _fault(400, _of_body("the body is no JSON", "send an object of JSON"))
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
    """The body, unless it is too long."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_TRIGGER:
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


def is_secret(given: str, secret: str) -> bool:
    """Whether a secret is the right one, compared in constant time; an empty one is none."""
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
