"""Calls a solver's endpoint like a quiz server: once correctly, and with three bad payloads."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

IN_TIME = 2.0
"""Seconds within which an endpoint must answer."""


def try_trigger(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The replies of an endpoint.

    Args:
        body: Its `endpoint`, and the `email`, `secret` and `url` to send there.
    """
    good = {name: body.get(name) for name in ("email", "secret", "url")}
    cases = [
        ("invalid JSON", b'{"email": ', 400),
        ("wrong secret", json.dumps(good | {"secret": "not the secret"}).encode(), 403),
        ("missing fields", json.dumps({"email": good["email"]}).encode(), 400),
        ("good", json.dumps(good).encode(), 200),
    ]
    return [_case(str(body.get("endpoint")), *case) for case in cases]


def _case(endpoint: str, name: str, data: bytes, expected: int) -> dict[str, Any]:
    started = time.monotonic()
    status = _post(endpoint, data)
    seconds = time.monotonic() - started
    ok = status == expected and seconds < IN_TIME
    return {"case": name, "status": status, "seconds": round(seconds, 3), "ok": ok}


def _post(endpoint: str, data: bytes) -> int | None:
    if not endpoint.startswith(("http://", "https://")):
        return None
    request = urllib.request.Request(endpoint, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None
