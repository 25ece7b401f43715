"""Who may use the server, and how much at once: the check before every route, and the limits.

A page of another site in the user's browser can send requests to this machine. So a request must
name this server as its host (which rules out DNS rebinding), come from no other origin, and carry
JSON, which a form cannot send. If a token is set, the request must carry it. The trigger of a task
comes from another site by design and carries its own secret. Bodies are limited as they arrive. The
limits on processes and connections follow from the limit on open files.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..errors import QuizlogError, error_data
from ..session.replayer_pool import PROCESSES
from .replies import BadRequestError, encode

MAX_BODY = 8 * 1024 * 1024
"""Maximum number of bytes in a request's body."""
READ_SECONDS = 10.0
"""Seconds in which a request's head or body must arrive."""
_MOST_DROPPED = 8 * MAX_BODY
"""Maximum number of bytes that are read of a body that is too large."""
_PAUSE_SECONDS = 1.0
"""Seconds without a part of such a body after which no more of it is awaited."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names that always mean this machine."""
_OPEN_PATHS = frozenset({"/health"})
"""Paths that need no token."""
TRIGGERS = frozenset({"/run", "/"})
"""Paths whose POST starts a task."""


@dataclass(frozen=True)
class AccessRules:
    """Which requests are allowed."""

    token: str | None = None
    """The token that `Authorization: Bearer` must carry; None allows every local client."""
    hosts: frozenset[str] | None = LOOPBACK
    """The allowed host names of this server; None allows any (only with a token)."""
    triggers: frozenset[str] = frozenset()
    """Paths to which anybody may POST, protected by the secret in the body."""


class AccessRefusal(Exception):
    """A request is refused.

    Args:
        status: The HTTP status.
        error: Why.
        unread: Whether a part of its body is still to come, as it is too large.
    """

    def __init__(self, status: int, error: QuizlogError, *, unread: bool = False) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error
        self.unread = unread


class Shield:
    """Middleware that passes on the requests that `AccessRules` allow, once their body is read."""

    def __init__(self, app: Any, rules: AccessRules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a refused request; pass on any other."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            check(self._rules, scope["method"], scope["path"], _headers(scope))
            read = [await _body_in_time(receive)]
        except AccessRefusal as refusal:
            await _refuse(refusal, receive, send)
            return

        async def replayed() -> Any:
            """The body that was already read, then later messages."""
            return read.pop() if read else await receive()

        await self._app(scope, replayed, send)


def check(rules: AccessRules, method: str, path: str, headers: Mapping[str, str]) -> None:
    """Check the head of a request.

    Raises:
        AccessRefusal: The request is not allowed.
    """
    if method == "POST" and path in rules.triggers:
        return
    host = headers.get("host", "")
    name = _name_of(host)
    if rules.hosts is not None and name not in rules.hosts:
        hint = "use the address that the server printed when it started"
        _deny(403, f"{host!r} is not a name of this server", "Host", hint)
    _check_origin(host, headers)
    if rules.token is not None and path not in _OPEN_PATHS and not _has_token(rules, headers):
        hint = "send Authorization: Bearer and the server's token"
        _deny(401, "the token is missing or wrong", "Authorization", hint)
    if method == "POST":
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            _deny(415, "the body must be JSON", "Content-Type", "send application/json")
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > MAX_BODY:
        raise _too_big(unread=True)


def _check_origin(host: str, headers: Mapping[str, str]) -> None:
    origin = headers.get("origin")
    foreign = origin is not None and origin not in (f"http://{host}", f"https://{host}")
    if foreign or headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        hint = "web pages of other sites may not use this server"
        _deny(403, f"requests from {origin or 'another site'} are refused", "Origin", hint)


def _has_token(rules: AccessRules, headers: Mapping[str, str]) -> bool:
    kind, _, given = headers.get("authorization", "").partition(" ")
    wanted = (rules.token or "").encode()
    return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode("latin-1"), wanted)


def _name_of(host: str) -> str:
    """The host without its port, such as `::1` or `localhost`; empty if it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _deny(status: int, message: str, where: str, hint: str) -> None:
    raise AccessRefusal(status, BadRequestError(message, where=where, hint=hint))


def _too_big(*, unread: bool) -> AccessRefusal:
    message = f"the body is larger than {MAX_BODY // 2**20} MB"
    error = BadRequestError(message, where="body", hint="send less at once")
    return AccessRefusal(413, error, unread=unread)


def _headers(scope: Any) -> dict[str, str]:
    """Headers by name; repeated ones are joined, so that a check accepts none of them."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


async def _body_in_time(receive: Any) -> dict[str, Any]:
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await _whole_body(receive)
    except TimeoutError:
        raise AccessRefusal(408, late_body()) from None


def late_body() -> QuizlogError:
    """The error for a body that did not arrive in time."""
    message = f"the body did not arrive within {READ_SECONDS:g} s"
    return BadRequestError(message, where="body", hint="send it again")


async def _whole_body(receive: Any) -> dict[str, Any]:
    message: dict[str, Any] = await receive()
    if not message.get("more_body"):
        if len(message.get("body", b"")) > MAX_BODY:
            raise _too_big(unread=False)
        return message
    parts = bytearray(message.get("body", b""))
    while message.get("more_body"):
        message = await receive()
        parts += message.get("body", b"")
        if len(parts) > MAX_BODY:
            raise _too_big(unread=bool(message.get("more_body")))
    return message | {"body": bytes(parts)}


async def _refuse(refusal: AccessRefusal, receive: Any, send: Any) -> None:
    body = encode(error_data(refusal.error))
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.status in (408, 413):  # the rest of the body is not used
        headers.append((b"connection", b"close"))
    start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
    await send(start)
    answer = {"type": "http.response.body", "body": body}
    if refusal.unread:
        await send(answer | {"more_body": True})
        await _drop_body(receive)
        answer["body"] = b""
    await send(answer)


async def _drop_body(receive: Any) -> None:
    """Read what a client still sends: closed now, it would see a reset and no reply."""
    left = _MOST_DROPPED
    with suppress(TimeoutError):
        while left > 0:
            async with asyncio.timeout(_PAUSE_SECONDS):
                message = await receive()
            left -= len(message.get("body", b""))
            if message["type"] != "http.request" or not message.get("more_body"):
                return


# -- processes and connections


CONNECTIONS = 2048
"""Maximum number of open connections."""
ACCEPTED = 64
"""Maximum number of connections accepted at once, before the open ones are counted again."""
_OWN_DESCRIPTORS = 256
_DESCRIPTORS = 5
"""Maximum number of descriptors that a run or checkpoint keeps open."""


@dataclass(frozen=True)
class Bounds:
    """Limits on what a server holds at once."""

    processes: int = PROCESSES
    """Maximum number of runs and checkpoints."""
    connections: int = CONNECTIONS
    """Maximum number of open connections; briefly exceeded while new ones are accepted."""


def allowed_bounds() -> Bounds:
    """The bounds that the limit on open files allows, after raising it as far as possible."""
    own = _OWN_DESCRIPTORS + 2 * ACCEPTED
    soft = _raised_limit(own + CONNECTIONS + PROCESSES * _DESCRIPTORS)
    if soft is None:
        return Bounds()
    connections = min(CONNECTIONS, soft // 8)
    processes = (soft - own - connections) // _DESCRIPTORS
    return Bounds(max(16, min(PROCESSES, processes)), connections)


def _raised_limit(wanted: int) -> int | None:
    """The limit on open files, after raising it up to `wanted`; None if there is no limit."""
    try:
        import resource
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if allowed > soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        soft = allowed
    return None if soft == resource.RLIM_INFINITY else soft
