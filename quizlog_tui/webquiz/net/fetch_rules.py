"""Decides which HTTP requests of models are sent. Pure.

Models read untrusted pages, so that a request may be what a page wants: no request goes to a site
that the task's pages may not reach, or to a submit URL, or contains a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from urllib.parse import urljoin

from ...solver.contract import FetchRequest
from ...solver.redaction import STAND_IN, Redaction
from ..page.page import reachable
from .address import Allowed, same_place

MOST_BODY = 100_000
"""Maximum size of a request's body in bytes."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[ -~]{0,2000}")
_OURS = re.compile(
    r"(?i)host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|proxy-.*"
)
"""Headers about the transfer of a request, which a model may not set."""


def address_of(request: FetchRequest, page: str) -> str:
    """The absolute URL of a request asked for at a page."""
    try:
        return urljoin(page, request.url.strip())
    except ValueError:
        return request.url  # not a URL: refused later with that reason


def body_of(request: FetchRequest) -> str | None:
    """The body to send."""
    if request.body is None or isinstance(request.body, str):
        return request.body
    return json.dumps(request.body)


def headers_of(request: FetchRequest) -> dict[str, str]:
    """The headers to send."""
    named = {name.strip(): value.strip() for name, value in request.headers.items()}
    is_json = request.body is not None and not isinstance(request.body, str)
    if is_json and "content-type" not in {name.lower() for name in named}:
        named["Content-Type"] = "application/json"
    return named


def fault_of(
    request: FetchRequest, url: str, allowed: Allowed, closed: Sequence[str], secrets: Redaction
) -> str | None:
    """Why a request must not be sent; None if it may be.

    Args:
        request: The request.
        url: Its absolute URL.
        allowed: The sites that may be reached.
        closed: The URLs that answers are sent to.
        secrets: The secrets that no request may contain.
    """
    body = body_of(request) or ""
    if not reachable(url, allowed):
        return f"is on none of the sites {', '.join(allowed.origins)}"
    if any(same_place(url, one) for one in closed):
        return "is where answers are sent: no request of a model goes there"
    if any(secrets.clean(text) != text or STAND_IN in text for text in _texts(request, url, body)):
        return "holds a secret"
    if len(body.encode("utf-8", "replace")) > MOST_BODY:
        return f"has a body of more than {MOST_BODY} bytes"
    faults = (_header(name, value) for name, value in headers_of(request).items())
    return next((fault for fault in faults if fault), None)


def _texts(request: FetchRequest, url: str, body: str) -> Iterator[str]:
    yield from (url, request.url, body)
    for name, value in request.headers.items():
        yield from (name, value)


def _header(name: str, value: str) -> str | None:
    if _OURS.fullmatch(name):
        return f"has a header that is not a model's to set: {name}"
    if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        return f"has a header that cannot be sent: {name!r:.60}"
    return None
