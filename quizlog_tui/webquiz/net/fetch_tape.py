"""Recorded replies to HTTP requests of models: a JSON file for each, played offline.

They serve a task that is continued or repeated offline. They contain no secrets, as replies are
cleaned before.
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

from ...files.place import FileKind
from ...files.regular_file import read_regular
from ...record.durable import write_text
from ...solver.decisions.decision_text import strict_loads
from .file_names import safe_name

_MOST = 16 * 1024 * 1024
"""Maximum size of a file in bytes."""


@dataclass(frozen=True)
class Sent:
    """A request to send."""

    page: str
    """The folder name of the page it is for."""
    method: str
    url: str
    headers: Mapping[str, str]
    body: str | None = None
    nth: int = 1
    """How often the same model has asked for it, as a repetition may have another reply."""

    @property
    def digest(self) -> str:
        """A digest of the request, independent of the server's address."""
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
    """The target, if it is a redirect that was not followed."""


@dataclass(frozen=True)
class Tape:
    """A folder of recorded replies."""

    folder: Path

    def _path(self, sent: Sent) -> Path:
        return self.folder / f"{safe_name(sent.page)}-{sent.digest[:16]}.json"

    def play(self, sent: Sent) -> Received | None:
        """The reply recorded for an identical request; None if there is none."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            path = self._path(sent)
            if path.is_file():
                data = strict_loads(read_regular(path, _MOST))
                if data["request"] == asdict(sent):
                    return _received(data["reply"])
        return None

    def record(self, sent: Sent, received: Received) -> None:
        """Record a reply.

        Raises:
            RecordError: It cannot be written.
        """
        reply = asdict(received) | {"data": base64.b64encode(received.data).decode("ascii")}
        data = {"schema_version": 1, "request": asdict(sent), "reply": reply}
        write_text(self._path(sent), f"{json.dumps(data)}\n", TAPE)


def _is_tape(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        data = strict_loads(read_regular(path, _MOST))
        return isinstance(data, dict) and data.keys() >= {"request", "reply"}
    return False


TAPE = FileKind("a recorded reply", _is_tape, makes_folder=True)


def _received(data: Mapping[str, Any]) -> Received:
    body = base64.b64decode(data["data"], validate=True)
    return Received(int(data["status"]), str(data["type"]), body, str(data["location"]))
