"""The application: the routes, each of which calls the part that does its work."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from .. import __version__
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
    error_data,
    refusal,
)
from ..record.who import Giver
from ..replay.process.process import Limits
from ..session.open_sessions import HOLD_SECONDS, OpenSessions, TakenOverError
from ..session.replayer_pool import ReplayerPool
from ..session.served_folders import Folders, NotServedError
from ..solver.models.choice import Choice
from .admission import MAX_BODY, TRIGGERS, AccessRules, Bounds, Shield
from .bodies import (
    DECIDED,
    DECISION,
    DECISIONS,
    FAULTS,
    HEALTH,
    Solve,
)
from .model_questions import ModelQuestions, events
from .replies import BadRequestError, EncodedJson, encode
from .steps import add_steps

if TYPE_CHECKING:
    from ..webquiz.task.settings import TaskSettings
    from ..webquiz.task.tasks import Tasks


@dataclass(frozen=True)
class ServerSettings:
    """What a server serves, to whom, and within which limits."""

    folders: Folders
    rules: AccessRules = field(default_factory=AccessRules)
    choice: Choice = field(default_factory=Choice)
    bounds: Bounds = field(default_factory=Bounds)
    tasks: TaskSettings | None = None
    """Settings of tasks on web pages; None if the server takes no tasks."""
    mcp: bool = False
    """Whether agents are served at `/mcp` too."""
    limits: Limits = field(default_factory=Limits)
    """Bounds on each script."""
    hold_seconds: float = HOLD_SECONDS
    """How long an answer waits for a record that a person holds."""


async def open_app(settings: ServerSettings, stack: AsyncExitStack) -> FastAPI:
    """Make the application, with tasks if the server takes any; the stack closes them.

    Raises:
        ConfigError: The server takes tasks, and their database or models cannot be used.
        LockedError: Another process works the tasks.
    """
    return create_app(settings, await _open_tasks(settings, stack))


async def _open_tasks(settings: ServerSettings, stack: AsyncExitStack) -> Tasks | None:
    """The tasks, if the server takes any; the stack closes them."""
    if settings.tasks is None:
        return None
    from ..episodes.runs.model_runs import KIND, answering
    from ..sandbox import run_code
    from ..webquiz.task.task_runner import open_task_runner
    from ..webquiz.task.tasks import open_tasks

    runner = await stack.enter_async_context(
        open_task_runner(settings.tasks, settings.choice, run_code)
    )
    starting = asyncio.create_task(runner.browser.start())
    stack.push_async_callback(asyncio.wait, [starting])  # a half-started browser cannot be closed
    others = {KIND: answering(runner.panel)}
    return await stack.enter_async_context(open_tasks(runner, others))


def create_app(settings: ServerSettings, tasks: Tasks | None = None) -> FastAPI:
    """Make the application. It ends its processes on shutdown; the caller closes `tasks`."""
    replayers = ReplayerPool(settings.bounds.processes, settings.limits)
    sessions = OpenSessions(settings.folders, replayers, Giver("http"), settings.hold_seconds)
    asking = ModelQuestions(sessions, settings.choice)

    routes, running = _agents_door(sessions) if settings.mcp else ([], nullcontext())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with running:
                yield
        finally:
            sessions.close()

    app = FastAPI(
        title="quizlog",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own pages load scripts of other sites
        redoc_url=None,
        responses=FAULTS,
    )
    app.state.sessions = sessions
    add_steps(app, sessions)
    app.include_router(_health(sessions))
    app.include_router(_questions(asking))
    app.include_router(_tasks(tasks))
    app.router.routes.extend(routes)
    _add_error_handlers(app, settings.folders)
    app.add_middleware(Shield, rules=replace(settings.rules, triggers=TRIGGERS))
    return app


def _agents_door(
    sessions: OpenSessions,
) -> tuple[Sequence[BaseRoute], AbstractAsyncContextManager[None]]:
    """The routes of the MCP server, and what keeps it running."""
    from ..agents.mcp_server import make_server
    from ..agents.transports import http_routes, http_running

    server = make_server(sessions, "auditor")
    return http_routes(server, MAX_BODY), http_running(server)


def _tasks(tasks: Tasks | None) -> APIRouter:
    if tasks is None:
        return _no_tasks()
    from .tasks import tasks_router

    return tasks_router(tasks)


def _no_tasks() -> APIRouter:
    """The routes of a server without a `USER_SECRET`: each explains why it takes no tasks."""
    router = APIRouter(include_in_schema=False)

    async def refuse() -> Response:
        hint = "set it in the environment or in .env, and start the server again"
        raise ConfigError("is not set: this server takes no tasks", where="USER_SECRET", hint=hint)

    for path in sorted(TRIGGERS):
        router.add_api_route(path, refuse, methods=["POST"])
    for path in ("/tasks", "/tasks/{rest:path}"):
        router.add_api_route(path, refuse, methods=["GET"])
    return router


def _health(sessions: OpenSessions) -> APIRouter:
    router = APIRouter(default_response_class=EncodedJson)

    @router.get(
        "/health", summary="Whether the server answers, and what it holds open", responses=HEALTH
    )
    async def health() -> Response:
        counts = {"sessions": len(sessions), "processes": sessions.replayers.processes}
        return EncodedJson(
            encode({"schema_version": 1, "status": "ok", "version": __version__} | counts)
        )

    return router


def _questions(asking: ModelQuestions) -> APIRouter:
    router = APIRouter(default_response_class=EncodedJson)

    @router.post("/solve", summary="Ask several models and make a decision", responses=DECIDED)
    async def solve(body: Solve, request: Request) -> Response:
        if "text/event-stream" in request.headers.get("accept", ""):
            stream = events(lambda tell: asking.solved(body, tell))
            headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
            return StreamingResponse(stream, media_type="text/event-stream", headers=headers)
        return EncodedJson(encode(await asking.solved(body, lambda progress: None)))

    @router.get("/decisions", summary="The decisions about a record", responses=DECISIONS)
    async def decisions(
        sheet_id: Annotated[str, Query()], rule: Annotated[str | None, Query()] = None
    ) -> Response:
        return EncodedJson(encode(await asking.of_sheet(sheet_id, rule)))

    @router.get("/decisions/{decision_id}", summary="A recent decision", responses=DECISION)
    async def decision(decision_id: str) -> Response:
        return EncodedJson(encode(asking.recent(decision_id)))

    return router


# -- errors


_STATUS: dict[type[QuizlogError], int] = {
    NotServedError: 404,
    UsageError: 409,
    ConflictError: 409,
    TakenOverError: 409,
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
_PLAIN = {"extra_forbidden": "unknown key", "missing": "is missing"}
_NO_PLACE = ("body", "query", "path", "script", "sheet", "record", "question-form")


def _add_error_handlers(app: FastAPI, folders: Folders) -> None:
    """Make every error a JSON response of one form."""

    def reply(status: int, error: QuizlogError) -> Response:
        error.message = folders.shown(error.message)
        error.where = error.where and folders.shown(error.where)
        return EncodedJson(encode(error_data(error)), status_code=status)

    @app.exception_handler(QuizlogError)
    async def ours(request: Request, error: QuizlogError) -> Response:
        return reply(_status_of(error), error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return reply(*_first_fault(error.errors()))

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        shown = BadRequestError(str(error.detail), where=request.url.path, hint="see /openapi.json")
        answer = reply(error.status_code, shown)
        answer.headers.update(error.headers or {})
        return answer

    async def refused(request: Request, error: Exception) -> Response:
        shown = refusal(error)
        if shown is None:
            raise error
        return reply(507 if _comes_from_full_disk(error) else 503, shown)

    for kind in (OSError, MemoryError, ImportError, RuntimeError):  # the system lacks a resource
        app.add_exception_handler(kind, refused)

    @app.exception_handler(Exception)
    async def defect(request: Request, error: Exception) -> Response:
        hint = "see the messages of the server"
        return reply(500, QuizlogError("the server failed", where=request.url.path, hint=hint))


def _status_of(error: QuizlogError) -> int:
    """The HTTP status of an error; 507 if a full disk caused it."""
    if _comes_from_full_disk(error):
        return 507
    kinds = type(error).__mro__
    return next((_STATUS[kind] for kind in kinds if kind in _STATUS), 400)


def _comes_from_full_disk(error: BaseException | None) -> bool:
    """Whether an error or one of its causes is a full disk or an exhausted quota."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return True
        error = error.__cause__ or error.__context__
    return False


def _first_fault(faults: Sequence[Any]) -> tuple[int, QuizlogError]:
    """The HTTP status and the one-line error for the first fault in a request."""
    fault = faults[0]
    if fault["type"] == "json_invalid":
        reason = fault.get("ctx", {}).get("error", fault["msg"])
        return 400, BadRequestError(f"the body is not JSON: {reason}")
    words = [str(part) for part in fault["loc"] if part not in _NO_PLACE]
    hint = "see /openapi.json"
    message = _PLAIN.get(fault["type"], fault["msg"])
    return 422, BadRequestError(message, where=".".join(words) or "body", hint=hint)
