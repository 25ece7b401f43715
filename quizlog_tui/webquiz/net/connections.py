"""The HTTP connections of a task, which go through its gate and repeat broken requests.

`gate` decides where a task may go; `submit` and `downloads` decide what is tried again.
"""

from __future__ import annotations

import ssl
from functools import cache

import httpx

_EACH_ITS_OWN = httpx.Limits(max_keepalive_connections=0)
"""No connection is used twice: one that the server is just closing loses what is sent, and of an
answer nobody knows then whether it arrived."""


def through(proxy: str) -> httpx.AsyncClient:
    """A client that sends all requests through a proxy, ignoring those of the environment."""
    return httpx.AsyncClient(
        transport=_AskedAgain(proxy=proxy, verify=_trusted(), limits=_EACH_ITS_OWN),
        trust_env=False,
        follow_redirects=True,
        max_redirects=5,
    )


@cache
def _trusted() -> ssl.SSLContext:
    """The trusted certificate authorities, read only once because it is slow."""
    return httpx.create_ssl_context(trust_env=False)


class _AskedAgain(httpx.AsyncHTTPTransport):
    """Repeats a request if its connection breaks before a reply.

    A POST is not repeated, as the server may have read it before the connection broke.
    """

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return await super().handle_async_request(request)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if request.method not in ("GET", "HEAD"):
                raise
            return await super().handle_async_request(request)
