"""Asks one model, within a hard time limit and with at most one repair turn; never raises.

The client checks the contract, limits the time and removes keys; a transport fetches the text.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Generic

from ..contract import BadReplyError, C, parse_reply
from ..decisions.decision import ReplyStatus, Source
from ..redaction import Redaction
from .transport import ChatMessage, NoReplyError, Prompt, Transport, Voter

_SHOWN = 20_000
"""Maximum number of characters of its own unreadable reply that a model is shown."""


@dataclass(frozen=True)
class ModelResult(Generic[C]):
    """The result of a request to a model."""

    status: ReplyStatus
    parsed: C | None = None
    """The reply, if the status is `ok`."""
    seconds: float = 0.0
    repaired: bool = False
    error: str | None = None
    source: Source = "live"


class ModelClient:
    """Asks one model.

    Args:
        voter: The model.
        transport: Fetches its replies.
        redaction: The keys that must not appear anywhere.
    """

    def __init__(self, voter: Voter, transport: Transport, redaction: Redaction) -> None:
        self.voter = voter
        self._transport = transport
        self._redaction = redaction

    async def request(self, prompt: Prompt[C], timeout: float | None = None) -> ModelResult[C]:
        """Ask the model, and ask once more if its reply is unusable.

        Args:
            prompt: The request.
            timeout: Seconds for both turns together, at most the model's own limit.
        """
        started = time.monotonic()
        wall = self.voter.seconds if timeout is None else min(timeout, self.voter.seconds)
        try:
            async with asyncio.timeout(wall):
                result = await self._within(self._clean(prompt, started + wall))
        except TimeoutError:
            result = ModelResult("timeout", error=f"no reply within {round(wall, 2):g} s")
        seconds = result.seconds or time.monotonic() - started
        return replace(result, seconds=round(seconds, 3))

    async def _within(self, prompt: Prompt[C]) -> ModelResult[C]:
        first = await self._turn(prompt)
        if first.status != "invalid" or first.parsed_from is None:
            return first.result
        second = await self._turn(_repair(prompt, first))
        seconds = first.result.seconds + second.result.seconds
        return replace(second.result, repaired=True, seconds=seconds)

    async def _turn(self, prompt: Prompt[C]) -> _Turn[C]:
        try:
            said = await self._transport.complete(prompt)
        except NoReplyError as failure:
            return _Turn(ModelResult(failure.status, error=self._line(failure.message)))
        result = ModelResult[C]("ok", seconds=said.seconds or 0.0, source=said.source)
        text = self._redaction.clean(said.text)
        try:
            parsed = parse_reply(said.text, prompt.contract, self._redaction.clean_value)
        except BadReplyError as bad:
            return _Turn(replace(result, status="invalid", error=self._line(str(bad))), text)
        return _Turn(replace(result, parsed=parsed), text)

    def _clean(self, prompt: Prompt[C], deadline: float) -> Prompt[C]:
        messages = (replace(m, content=self._redaction.clean(m.content)) for m in prompt.messages)
        return replace(prompt, messages=tuple(messages), deadline=deadline)

    def _line(self, text: str) -> str:
        """Untrusted text as a short line without keys."""
        return " ".join(self._redaction.clean(text).split())[:300]


@dataclass(frozen=True)
class _Turn(Generic[C]):
    result: ModelResult[C]
    parsed_from: str | None = None
    """The reply's text; None if there was no reply."""

    @property
    def status(self) -> ReplyStatus:
        return self.result.status


def _repair(prompt: Prompt[C], turn: _Turn[C]) -> Prompt[C]:
    request = (
        f"That reply cannot be used: {turn.result.error}. Reply once more, with nothing but the "
        "one JSON object that was asked for."
    )
    reply = ChatMessage("assistant", (turn.parsed_from or "")[:_SHOWN])
    return replace(prompt, messages=(*prompt.messages, reply, ChatMessage("user", request)))
