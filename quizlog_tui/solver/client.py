"""Asks one model: within a hard wall time-out, with exactly one repair turn, never raising.

`ModelClient` keeps the contract and the time; a transport behind it fetches the text. `Endpoint` is
the transport for OpenAI-compatible servers, the only place that knows HTTP. Its key goes into one
header and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, Generic

import httpx

from .contract import BadReplyError, C, parse_reply
from .decision import ReplyStatus, Source
from .models import ModelSettings
from .redaction import Redaction
from .transport import Message, NoReplyError, Prompt, Said, Transport, Voter

MAX_REPLY = 2_000_000
"""Bytes of a reply; longer ones are cut off and refused."""
ATTEMPTS = 3
"""How often a request is sent while the server is busy or the line fails."""
_BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})
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
            heard = Heard("timeout", error=f"no reply within {wall:g} s")
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
        text = self._redaction.clean(said.text)
        try:
            parsed = parse_reply(text, prompt.contract)
        except BadReplyError as bad:
            heard = Heard[C]("invalid", None, said.seconds or 0.0, False, self._line(str(bad)))
            return _Turn(replace(heard, source=said.source), text)
        return _Turn(Heard("ok", parsed, said.seconds or 0.0, source=said.source), text)

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
    reply = Message("assistant", (turn.parsed_from or "")[:_SHOWN])
    return replace(prompt, messages=(*prompt.messages, reply, Message("user", wish)))


class Endpoint:
    """An OpenAI-compatible chat endpoint.

    Args:
        settings: The model; `base_url` and `model` are given.
        key: Its key; None if it needs none.
        http: The connections.
    """

    def __init__(self, settings: ModelSettings, key: str | None, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self._http = http
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    async def complete(self, prompt: Prompt[Any]) -> Said:
        """The reply's text; busy servers and broken lines are tried again, a few times."""
        attempt = 1
        while True:
            try:
                status, headers, body = await self._post(prompt)
            except _UNREACHED as error:
                failure = NoReplyError("error", f"{type(error).__name__}: {error}")
                again, wish = isinstance(error, httpx.TransportError), None
            else:
                if status == 200:
                    return Said(_content(body), "live")
                failure = _refused(status, body)
                again, wish = status in _BUSY, headers.get("retry-after")
            pause = _pause(attempt, wish)
            if not again or attempt == ATTEMPTS or time.monotonic() + pause >= prompt.deadline:
                raise failure
            await asyncio.sleep(pause)
            attempt += 1

    async def _post(self, prompt: Prompt[Any]) -> tuple[int, httpx.Headers, bytes]:
        url = f"{self._settings.base_url}/chat/completions"
        body = json.dumps(self._body(prompt)).encode()
        async with self._http.stream("POST", url, content=body, headers=self._headers) as reply:
            return reply.status_code, reply.headers, await _bounded(reply.aiter_raw())

    def _body(self, prompt: Prompt[Any]) -> dict[str, Any]:
        messages = [{"role": m.role, "content": m.content} for m in prompt.messages]
        body: dict[str, Any] = {"model": self._settings.model, "messages": messages}
        if self._settings.max_output_tokens:
            body["max_tokens"] = self._settings.max_output_tokens
        if self._settings.json_mode == "object":
            body["response_format"] = {"type": "json_object"}
        elif self._settings.json_mode == "schema":
            schema = {"name": prompt.turn, "schema": prompt.contract.model_json_schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


_UNREACHED = (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError)


async def _bounded(chunks: AsyncIterator[bytes]) -> bytes:
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > MAX_REPLY:
            raise NoReplyError("invalid", f"the reply is longer than {MAX_REPLY} bytes")
    return bytes(data)


def _pause(attempt: int, wish: str | None) -> float:
    """Seconds until the next attempt: as the server wishes, else growing from a fifth."""
    if wish is not None:
        try:
            return max(0.0, float(wish))
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(wish).timestamp() - time.time())
        except (ValueError, OverflowError):
            pass
    return float(0.2 * 2 ** (attempt - 1))


def _refused(status: int, body: bytes) -> NoReplyError:
    """What a server says that does not give a reply."""
    said = body.decode("utf-8", "replace")
    try:
        error = json.loads(body)["error"]
        said = error if isinstance(error, str) else str(error["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return NoReplyError("rate_limited" if status == 429 else "error", f"HTTP {status}: {said}")


def _content(body: bytes) -> str:
    """The text in a chat completion."""
    try:
        choice = json.loads(body)["choices"][0]
        content = choice["message"]["content"]
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise NoReplyError("error", "the server's reply is no chat completion") from None
    if not isinstance(content, str):
        why = choice["message"].get("refusal") or "the reply holds no text"
        raise NoReplyError("invalid", str(why))
    return content
