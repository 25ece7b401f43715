"""Sends an HTTP request of a model, with limits on time and size, and again if the server is busy.

`fetch_rules` decides what is sent; the connections go through the gate.
"""

from __future__ import annotations

import asyncio

import httpx

from .downloads import retry_delay
from .fetch_tape import Received, Sent

BUSY = (429, 503)
_SECONDS = 20.0
"""Seconds for one attempt."""
_ATTEMPTS = 4


class NoFetchReplyError(Exception):
    """There is no reply; the text says why, in one line."""


async def send(http: httpx.AsyncClient, sent: Sent, most: int) -> Received:
    """The server's reply.

    Args:
        http: The connections.
        sent: The request.
        most: Maximum size of the reply in bytes.

    Raises:
        NoFetchReplyError: There is none in time, or it is too big.
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            async with asyncio.timeout(_SECONDS):
                received, retry_after = await _once(http, sent, most)
        except TimeoutError:
            raise NoFetchReplyError(f"no reply within {_SECONDS:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise NoFetchReplyError(f"{type(error).__name__}: {error}".rstrip(": ")) from None
        if received.status not in BUSY or not left:
            break
        await asyncio.sleep(retry_delay(retry_after, 1.0))
    return received


async def _once(http: httpx.AsyncClient, sent: Sent, most: int) -> tuple[Received, str | None]:
    """The reply, and the `Retry-After` of the server.

    Redirects are followed only for requests without a body, which might end up elsewhere.
    """
    body = None if sent.body is None else sent.body.encode()
    asks = sent.method in ("GET", "HEAD") and body is None
    async with http.stream(
        sent.method, sent.url, headers=sent.headers, content=body, follow_redirects=asks
    ) as reply:
        kind = reply.headers.get("content-type", "").split(";")[0].strip().lower()
        location = "" if asks else reply.headers.get("location", "")
        data = bytearray()
        async for chunk in reply.aiter_bytes():
            data += chunk
            if len(data) > most:
                raise NoFetchReplyError("the reply is too big")
        received = Received(reply.status_code, kind, bytes(data), location)
        return received, reply.headers.get("Retry-After")
