"""The transport for OpenAI-compatible chat endpoints over HTTP.

The key goes into one header and nowhere else. Redirects are not followed, as they would carry the
key along. The size of replies is limited as they arrive.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from .models import ModelSettings
from .transport import NoReplyError, Prompt, TransportReply

MAX_REPLY = 2_000_000
"""Maximum size of a reply in bytes."""
ATTEMPTS = 3
"""Maximum number of times a request is sent if the server is busy or the connection fails."""
_BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})


def connections() -> httpx.AsyncClient:
    """The HTTP client that endpoints share; use it as a context manager."""
    return httpx.AsyncClient(timeout=None, follow_redirects=False)


class Endpoint:
    """An OpenAI-compatible chat endpoint.

    Args:
        settings: The model, with `base_url` and `model` set.
        key: Its key; None if it needs none.
        http: The `connections`.
    """

    def __init__(self, settings: ModelSettings, key: str | None, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self._http = http
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The reply's text, after a few attempts if the server is busy or the connection fails."""
        attempt = 1
        while True:
            try:
                status, headers, body = await self._post(prompt)
            except _UNREACHED as error:
                failure = NoReplyError("error", f"{type(error).__name__}: {error}")
                again, retry_after = isinstance(error, httpx.TransportError), None
            else:
                if status == 200:
                    return TransportReply(_content(body), "live")
                failure = _refused(status, body)
                again, retry_after = status in _BUSY, headers.get("retry-after")
            pause = _pause(attempt, retry_after)
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


def _pause(attempt: int, retry_after: str | None) -> float:
    """Seconds until the next attempt: as the server asks for, else 0.2, doubled each time."""
    if retry_after is not None:
        try:
            return max(0.0, float(retry_after))
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
        except (ValueError, OverflowError):
            pass
    return float(0.2 * 2 ** (attempt - 1))


def _refused(status: int, body: bytes) -> NoReplyError:
    """The error for a status other than 200."""
    message = body.decode("utf-8", "replace")
    try:
        error = json.loads(body)["error"]
        message = error if isinstance(error, str) else str(error["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return NoReplyError("rate_limited" if status == 429 else "error", f"HTTP {status}: {message}")


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
