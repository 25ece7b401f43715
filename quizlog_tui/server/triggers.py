"""The paths that start tasks, and their responses on a server that takes no tasks."""

from __future__ import annotations

from fastapi import APIRouter, Response

from ..errors import ConfigError

TRIGGERS = frozenset({"/run", "/"})
"""Paths whose POST starts a task."""


def no_tasks_router() -> APIRouter:
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
