"""Asks one model: within a hard wall time-out, with exactly one repair turn, never raising.

The client keeps the contract, the time and the keys; a transport behind it fetches the text.
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
"""Characters of its own unreadable reply that a model is shown."""


@dataclass(frozen=True)
class Heard(Generic[C]):
    """How asking a model ended."""

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
        transport: What fetches its replies.
        redaction: The keys that must not show up anywhere.
    """

    def __init__(self, voter: Voter, transport: Transport, redaction: Redaction) -> None:
        self.voter = voter
        self._transport = transport
        self._redaction = redaction

    async def request(self, prompt: Prompt[C], timeout: float | None = None) -> Heard[C]:
        """Ask, and once more if the reply cannot be used (spec 2.2.4, ModelClient interface).

        Args:
            prompt: What is asked.
            timeout: Seconds for all of it; the model's own if None.
        """
        started = time.monotonic()
        wall = self.voter.seconds if timeout is None else min(timeout, self.voter.seconds)
        try:
            async with asyncio.timeout(wall):
                heard = await self._within(self._clean(prompt, started + wall))
        except TimeoutError:
            heard = Heard("timeout", error=f"no reply within {round(wall, 2):g} s")
        seconds = heard.seconds or time.monotonic() - started
        return replace(heard, seconds=round(seconds, 3))

    async def _within(self, prompt: Prompt[C]) -> Heard[C]:
        first = await self._turn(prompt)
        if first.status != "invalid" or first.parsed_from is None:
            return first.heard
        second = await self._turn(_repair(prompt, first))
        seconds = first.heard.seconds + second.heard.seconds
        return replace(second.heard, repaired=True, seconds=seconds)

    async def _turn(self, prompt: Prompt[C]) -> _Turn[C]:
        try:
            said = await self._transport.complete(prompt)
        except NoReplyError as failure:
            return _Turn(Heard(failure.status, error=self._line(failure.message)))
        heard = Heard[C]("ok", seconds=said.seconds or 0.0, source=said.source)
        text = self._redaction.clean(said.text)
        try:
            parsed = parse_reply(said.text, prompt.contract, self._redaction.clean_value)
        except BadReplyError as bad:
            return _Turn(replace(heard, status="invalid", error=self._line(str(bad))), text)
        return _Turn(replace(heard, parsed=parsed), text)

    def _clean(self, prompt: Prompt[C], deadline: float) -> Prompt[C]:
        messages = (replace(m, content=self._redaction.clean(m.content)) for m in prompt.messages)
        return replace(prompt, messages=tuple(messages), deadline=deadline)

    def _line(self, text: str) -> str:
        """Foreign text as a short line without keys."""
        return " ".join(self._redaction.clean(text).split())[:300]


@dataclass(frozen=True)
class _Turn(Generic[C]):
    heard: Heard[C]
    parsed_from: str | None = None
    """The text it was read from; None if there was none."""

    @property
    def status(self) -> ReplyStatus:
        return self.heard.status


def _repair(prompt: Prompt[C], turn: _Turn[C]) -> Prompt[C]:
    wish = (
        f"That reply cannot be used: {turn.heard.error}. Reply once more, with nothing but the one "
        "JSON object that was asked for."
    )
    reply = ChatMessage("assistant", (turn.parsed_from or "")[:_SHOWN])
    return replace(prompt, messages=(*prompt.messages, reply, ChatMessage("user", wish)))
