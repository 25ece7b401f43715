"""The route of steps: in a record, or in a script with all answers so far."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from ..record.who import Giver, claimed_name
from ..replay.script.granted import SourceCache
from ..session.open_sessions import OpenSessions, expect_pointer
from ..session.reply import Reply
from ..session.served_folders import SCRIPT, SHEET
from ..session.session import Session
from .bodies import REPLY, STEP, Claim, ScriptStep, SheetStep, Step
from .replies import EncodedJson, encode


def add_steps(app: FastAPI, sessions: OpenSessions) -> None:
    """Add `POST /quizlog/next`."""
    steps = _Steps(sessions)

    async def next_(step: Step, request: Request) -> Response:
        if isinstance(step, ScriptStep):
            return EncodedJson(await steps.replayed(step))
        return EncodedJson(await steps.stepped(step, request))

    app.router.add_api_route(
        "/quizlog/next",
        next_,
        methods=["POST"],
        response_class=EncodedJson,
        summary="Show or answer a questionnaire",
        responses=REPLY,
        route_class_override=_StepRoute,
    )


class _StepRoute(APIRoute):
    """Reads a step by itself, as FastAPI's general way takes as long as the step.

    FastAPI gets the bodies that are no step, and refuses them.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        refuse = super().get_route_handler()

        async def answer(request: Request) -> Any:
            try:
                step = STEP.validate_python(json.loads(await request.body()))
            except (ValueError, RecursionError):
                return await refuse(request)
            return await self.endpoint(step, request)

        return answer


class _Steps:
    """Makes the steps that clients ask for; each reply is encoded."""

    def __init__(self, sessions: OpenSessions) -> None:
        self._sessions = sessions
        self._scripts = SourceCache()

    async def replayed(self, step: ScriptStep) -> bytes:
        """The reply of a script after its answers."""
        return await self._sessions.off_loop(partial(self._replayed, step))

    def _replayed(self, step: ScriptStep) -> bytes:
        source = self._scripts.source(self._sessions.folders.find(SCRIPT, step.script_id))
        replayers = self._sessions.replayers
        with replayers.using(replayers.slot(source.path, step.seed)) as replayer:
            found = replayer.replay(source, step.seed, step.inputs)
        return _encode_reply(Reply(found, "main", ""), None)

    async def stepped(self, step: SheetStep, request: Request) -> bytes:
        """The reply of a record, after one more answer if the step has one."""
        path = self._sessions.folders.find(SHEET, step.sheet_id)
        if step.input is not None:
            name = (step.who and step.who.name) or "a client of HTTP"
            act = partial(_shown, step)
            return await self._sessions.change(path, act, name, request.is_disconnected)
        session = self._sessions.unchanged(path)
        if session is not None:
            return _shown(step, session)
        return await self._sessions.move(path, partial(_shown, step))


def _shown(step: SheetStep, session: Session) -> bytes:
    """The record's encoded reply, after the answer if there is one."""
    expect_pointer(session, step.pointer)
    giver = None if step.who is None else _giver(step.who)
    reply = session.reply() if step.input is None else session.answer(step.input, giver=giver)
    return _encode_reply(reply.newest() if step.new else reply, step.sheet_id)


def _giver(claim: Claim) -> Giver:
    return Giver("http", claim.by, claimed_name(claim.name or ""))


def _encode_reply(reply: Reply, sheet: str | None) -> bytes:
    """A reply as bytes; the record has the name that the client used."""
    return encode({"schema_version": 1} | reply.to_dict() | {"record": sheet})
