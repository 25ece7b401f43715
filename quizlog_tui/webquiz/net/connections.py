"""The HTTP connections of a task: through its gate, and asked again where one breaks.

Holds no rule of where a task may go (`gate`) or what is worth another try (`submit`, `downloads`).
"""

from __future__ import annotations

import ssl
from functools import cache

import httpx


def through(proxy: str) -> httpx.AsyncClient:
    """A client whose requests all go through a proxy; the environment's proxies are not asked."""
    return httpx.AsyncClient(
        transport=_AskedAgain(proxy=proxy, verify=_trusted()),
        trust_env=False,
        follow_redirects=True,
        max_redirects=5,
    )


@cache
def _trusted() -> ssl.SSLContext:
    """The authorities that are trusted. Read once: it takes longer than many a page."""
    return httpx.create_ssl_context(trust_env=False)


class _AskedAgain(httpx.AsyncHTTPTransport):
    """A kept connection may be closed at its other end just when it is used: no fault of a page.

    Only what asks is sent twice; a POST may have been read before the line broke.
    """

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return await super().handle_async_request(request)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if request.method not in ("GET", "HEAD"):
                raise
            return await super().handle_async_request(request)
