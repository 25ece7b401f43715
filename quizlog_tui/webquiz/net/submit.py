"""Sends an answer, with the secret, to the submit URL and nowhere else.

If the server is busy or the connection breaks, the same answer is sent again. Redirects are not
followed, as they would carry the secret along.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx

from .gate import retry_delay

_MAX_PAYLOAD = 1_000_000
"""A submission must have fewer bytes than this."""
_WAIT = 25.0
"""Seconds to wait for a reply; a real grader once took 15."""
_BUSY = frozenset({408, 425, 429})
_CONTENT = frozenset({400, 413, 422})
Outcome = Literal["graded", "unfit", "rejected", "no_reply", "in_doubt", "unsent"]
"""`graded`: right or wrong; `unfit`: the server does not accept the answer in this form;
`rejected`: the server accepts no answer here, or says nothing about it; `no_reply`: there was no
intelligible reply in time; `in_doubt`: the process ended while sending, so that the answer may have
arrived; `unsent`: the page's time was over before sending."""


@dataclass(frozen=True)
class SubmitReply:
    """The result of sending an answer."""

    outcome: Outcome
    http: int | None = None
    correct: bool = False
    reason: str = ""
    url: str | None = None
    """The next page."""
    delay: float | None = None
    tries: int = 1
    """Number of times it was sent."""

    @property
    def late(self) -> bool:
        """Whether the server says that the page's time was over."""
        return "[DELAY:" in self.reason


def payload_of(
    email: str, secret: str, url: str, answer: Any, constants: Mapping[str, Any]
) -> bytes:
    """The submission as JSON in ASCII, with the raw answer."""
    fields = {"email": email, "secret": secret, "url": url, "answer": answer}
    return json.dumps({**constants, **fields}, allow_nan=False).encode("ascii")


async def submit(http: httpx.AsyncClient, url: str, payload: bytes, seconds: float) -> SubmitReply:
    """Send an answer, and again if the server is busy or the connection breaks, in `seconds`."""
    if len(payload) >= _MAX_PAYLOAD:
        said = f"the payload has {len(payload)} bytes: must be under 1 MB"
        return SubmitReply("unfit", reason=said, tries=0)
    end, tries, failure = time.monotonic() + seconds, 0, SubmitReply("unsent", tries=0)
    while time.monotonic() < end:
        tries += 1
        reply, pause = await _once(http, url, payload, min(_WAIT, end - time.monotonic()))
        if reply.outcome != "no_reply":
            return replace(reply, tries=tries)
        failure = replace(reply, tries=tries)
        pause = min(4.0, 0.3 * 2 ** (tries - 1)) if pause is None else pause
        await asyncio.sleep(max(0.0, min(pause, end - time.monotonic())))
    return failure


async def _once(
    http: httpx.AsyncClient, url: str, payload: bytes, seconds: float
) -> tuple[SubmitReply, float | None]:
    """The result of one attempt, and the seconds that the server asks to wait."""
    headers = {"Content-Type": "application/json"}
    try:
        async with asyncio.timeout(seconds):
            reply = await http.post(
                url, content=payload, headers=headers, timeout=None, follow_redirects=False
            )
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        return SubmitReply("no_reply", reason=type(error).__name__), None
    said = read_reply(reply.status_code, reply.content)
    retry_after = reply.headers.get("Retry-After")
    return said, retry_delay(retry_after, 1.0) if retry_after else None


def read_reply(status: int, body: bytes) -> SubmitReply:
    """The meaning of a server's reply. Pure."""
    try:
        data = json.loads(body[:_MAX_PAYLOAD])
    except (ValueError, RecursionError):
        data = None
    is_object, data = isinstance(data, dict), data if isinstance(data, dict) else {}
    correct = _verdict(data.get("correct"))
    if status == 200 and correct is not None:
        url = data.get("url")
        return SubmitReply(
            "graded", 200, correct, str(data.get("reason") or "")[:2_000],
            url if isinstance(url, str) and url else None, _seconds(data.get("delay")),
        )  # fmt: skip
    if status == 200 and is_object:  # it was read: the same again would change nothing
        return SubmitReply(
            "rejected", 200, reason="HTTP 200: says neither that it is right nor wrong"
        )
    said = f"HTTP {status}: {str(data.get('error') or data.get('message') or '')[:300]}"
    if status == 200 or status >= 500 or status in _BUSY:
        return SubmitReply("no_reply", status, reason=said)
    return SubmitReply("unfit" if status in _CONTENT else "rejected", status, reason=said)


def _verdict(value: Any) -> bool | None:
    """Whether a server says that an answer is right; None if that is unclear."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return bool(value) if isinstance(value, int) and value in (0, 1) else None


def _seconds(value: Any) -> float | None:
    """A finite number of seconds; None for anything else."""
    fit = isinstance(value, (int, float)) and abs(value) < 1e9
    return float(value) if fit else None
