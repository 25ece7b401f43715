"""Recorded replies to the requests of models: a JSON file for each, played without a network.

They answer a task that is taken up again, and whoever repeats one offline. Holds no rule of what is
sent, and no secret: what is kept was cleaned before.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...record.durable import write_text
from ...solver.decisions.json_value import strict_loads
from .file_names import safe_name

_MOST = 16 * 1024 * 1024
"""Bytes of a file; a longer one is none of ours."""


@dataclass(frozen=True)
class Sent:
    """A request as it is sent."""

    page: str
    """The page it is for, as its folder is called."""
    method: str
    url: str
    headers: Mapping[str, str]
    body: str | None = None
    nth: int = 1
    """How often the same model has asked for it: once more may have another reply."""

    @property
    def digest(self) -> str:
        """A name for it, the same wherever its server stands."""
        parts = urlsplit(self.url)
        place = parts._replace(scheme="", netloc="").geturl()
        said = [self.method, place, sorted(self.headers.items()), self.body, self.nth]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


@dataclass(frozen=True)
class Received:
    """A reply."""

    status: int
    type: str
    """Its media type."""
    data: bytes
    location: str = ""
    """Where it leads, if it is a redirect that was not followed."""


@dataclass(frozen=True)
class Tape:
    """A folder of recorded replies."""

    folder: Path

    def _path(self, sent: Sent) -> Path:
        return self.folder / f"{safe_name(sent.page)}-{sent.digest[:16]}.json"

    def play(self, sent: Sent) -> Received | None:
        """The reply recorded for the very same request; None if there is none."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            path = self._path(sent)
            if path.is_file() and path.stat().st_size <= _MOST:
                data = strict_loads(path.read_bytes())
                if data["request"] == asdict(sent):
                    return _received(data["reply"])
        return None

    def record(self, sent: Sent, received: Received) -> None:
        """Keep a reply.

        Raises:
            OSError: It cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        reply = asdict(received) | {"data": base64.b64encode(received.data).decode("ascii")}
        data = {"schema_version": 1, "request": asdict(sent), "reply": reply}
        write_text(self._path(sent), f"{json.dumps(data)}\n")


def _received(data: Mapping[str, Any]) -> Received:
    body = base64.b64decode(data["data"], validate=True)
    return Received(int(data["status"]), str(data["type"]), body, str(data["location"]))
