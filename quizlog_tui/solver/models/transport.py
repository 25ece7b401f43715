"""A request to one model: the prompt, the protocol of the transports, and the client that asks.

A transport returns the text of a reply, or raises if there is none. The client limits the time,
checks the reply against its contract, removes keys, and asks once more if the reply is unusable; it
never raises.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import time
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Protocol

from ..contract import BadReplyError, C, parse_reply
from ..decision import ReplyStatus, Source
from ..redaction import Redaction

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""The pattern of a model's name, which also names files."""
MAX_WEIGHT = 1000.0
"""Maximum weight of a vote."""
Turn = Literal["solve", "reconcile"]
"""The round in which a model is asked."""


@dataclass(frozen=True)
class Voter:
    """A model, program or person that is asked, and the weight of its vote."""

    name: str
    """Its name in decisions."""
    family: str | None = None
    """The provider family it belongs to."""
    weight: float = 1.0
    primary: bool = False
    """Whether its answer counts if no other rule decides."""
    seconds: float = 45.0
    """Seconds that it may take, repair included."""


@dataclass(frozen=True)
class ChatMessage:
    """A message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Prompt(Generic[C]):
    """A request to a model. Contains no key."""

    turn: Turn
    messages: tuple[ChatMessage, ...]
    contract: type[C]
    """The class of the reply."""
    deadline: float = math.inf
    """Time on the monotonic clock after which no reply is needed; not part of the request."""

    def digest(self, model: str) -> str:
        """A digest of this request to a model: equal requests have equal digests."""
        messages = [[message.role, message.content] for message in self.messages]
        data = json.dumps([model, self.turn, messages])
        return hashlib.sha256(data.encode()).hexdigest()


@dataclass(frozen=True)
class TransportReply:
    """A reply's text and where it comes from."""

    text: str
    source: Source
    seconds: float | None = None
    """Seconds it took when it was recorded; None for a live reply."""


class NoReplyError(Exception):
    """A model gave no reply: how the request ended, and why, in one line of untrusted text."""

    def __init__(self, status: ReplyStatus, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Transport(Protocol):
    """Answers requests to one model. Raises only NoReplyError as far as it can foresee."""

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The reply to a request. Has no time limit of its own: the caller sets one."""


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
    """Asks one model."""

    def __init__(self, voter: Voter, transport: Transport, redaction: Redaction) -> None:
        self.voter = voter
        self._transport = transport
        self._redaction = redaction

    async def request(self, prompt: Prompt[C], timeout: float | None = None) -> ModelResult[C]:
        """Ask the model, and ask once more if its reply is unusable.

        The timeout is in seconds, for both turns together, at most the model's own limit.
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
