"""What the server sends: one JSON object, an error's too, or events that hold one each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from ..errors import QuizlogError


class BadRequestError(QuizlogError):
    """A request that cannot be read."""


def encode(data: Mapping[str, Any]) -> bytes:
    """A JSON object as bytes; ASCII only, so that lone surrogates can be encoded too."""
    return json.dumps(data).encode("ascii")


class EncodedJson(Response):
    """A response whose content is encoded JSON."""

    media_type = "application/json"


def event(kind: str, data: Mapping[str, Any]) -> bytes:
    """One event as bytes; encoded JSON contains no newline, so the data is one line."""
    return b"event: %s\ndata: %s\n\n" % (kind.encode("ascii"), encode(data))
