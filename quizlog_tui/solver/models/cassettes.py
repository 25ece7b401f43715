"""Recorded replies, called cassettes: one JSON file per request, without keys, played offline.

A cassette is named for its model and a digest of its request; only an identical request plays it.
Cassettes are plain data, so that a folder of them may come from anywhere.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from ...errors import ConfigError, RecordError
from ...files.durable import FileKind, write_text
from ...files.regular_file import read_regular
from ..decision import ReplyStatus
from ..decision_text import strict_loads
from ..redaction import Redaction
from .transport import MAX_WEIGHT, NAME, NoReplyError, Prompt, Transport, TransportReply, Voter

_MAX_FILE = 16 * 1024 * 1024
"""Maximum size of a recorded reply in bytes."""
FETCHED = "fetched"
"""The folder, inside one of cassettes, with the replies to HTTP requests of models."""


@dataclass(frozen=True)
class CassetteShelf:
    """A folder of cassettes."""

    folder: Path
    label: str | None = None
    """A remark stored in each cassette: how the replies came about."""

    def path(self, model: str, prompt: Prompt[Any]) -> Path:
        """The file of the reply to a request."""
        return self.folder / f"{model}-{prompt.turn}-{prompt.digest(model)[:16]}.json"


class Recorder:
    """Passes requests on to a transport and records each reply; `clock` gives seconds."""

    def __init__(
        self,
        voter: Voter,
        inner: Transport,
        shelf: CassetteShelf,
        redaction: Redaction,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._voter = voter
        self._inner = inner
        self._shelf = shelf
        self._redaction = redaction
        self._clock = clock

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The reply, after recording it; a failure is recorded and raised again."""
        started = self._clock()
        try:
            said = await self._inner.complete(prompt)
        except NoReplyError as failure:
            outcome = {"status": failure.status, "message": failure.message}
            self._keep(prompt, outcome | {"seconds": round(self._clock() - started, 3)})
            raise
        seconds = round(self._clock() - started, 3)
        self._keep(prompt, {"text": said.text, "seconds": seconds})
        return said

    def _keep(self, prompt: Prompt[Any], outcome: dict[str, Any]) -> None:
        voter = {
            "name": self._voter.name,
            "family": self._voter.family,
            "weight": self._voter.weight,
            "primary": self._voter.primary,
        }
        asked = [{"role": m.role, "content": m.content} for m in prompt.messages]
        data: dict[str, Any] = {"schema_version": 1, "label": self._shelf.label, "voter": voter}
        data |= {"turn": prompt.turn, "asked": asked, "reply": outcome}
        path = self._shelf.path(self._voter.name, prompt)
        try:
            write_reply(path, self._redaction.clean(json.dumps(data, indent=1)))
        except RecordError as error:
            raise NoReplyError("error", f"the reply could not be kept: {error}") from None


class Player:
    """Plays recorded replies."""

    def __init__(self, name: str, shelf: CassetteShelf) -> None:
        self._name = name
        self._shelf = shelf

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The reply recorded for an identical request."""
        path = self._shelf.path(self._name, prompt)
        if not path.is_file():
            raise NoReplyError("error", "no reply to this request was recorded")
        try:
            reply = _read(path)["reply"]
        except ConfigError as error:
            raise NoReplyError("error", str(error)) from None
        if "text" in reply:
            return TransportReply(reply["text"], "recorded", reply["seconds"])
        raise NoReplyError(reply["status"], reply["message"])


def recorded(folder: Path) -> tuple[list[Voter], CassetteShelf]:
    """The models with cassettes in a folder, sorted by name, and the folder with its label.

    Raises:
        ConfigError: There are no cassettes, or a file is not a cassette.
    """
    voters: dict[str, Voter] = {}
    labels = set()
    for path in sorted(folder.glob("*.json")):
        data = _read(path)
        voter = Voter(**data["voter"])
        voters[voter.name] = voter
        labels.add(str(data.get("label") or ""))
    if not voters:
        raise ConfigError("holds no recorded replies", where=str(folder))
    label = "; ".join(sorted(filter(None, labels)))
    return [voters[name] for name in sorted(voters)], CassetteShelf(folder, label or None)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = read_reply(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read: {error}", where=str(path)) from None
    if not _is_cassette(data):
        raise ConfigError("is not a recorded reply", where=str(path))
    cassette: dict[str, Any] = data
    return cassette


def _is_cassette(data: Any) -> bool:
    reply, voter = (data.get("reply"), data.get("voter")) if isinstance(data, dict) else (0, 0)
    if not isinstance(reply, dict) or not isinstance(voter, dict):
        return False
    has_outcome = isinstance(reply.get("text"), str) or (
        reply.get("status") in get_args(ReplyStatus) and isinstance(reply.get("message"), str)
    )
    return has_outcome and isinstance(reply.get("seconds"), (int, float)) and _is_voter(voter)


def _is_voter(voter: dict[str, Any]) -> bool:
    family, weight = voter.get("family"), voter.get("weight")
    return (
        voter.keys() == {"name", "family", "weight", "primary"}
        and isinstance(voter["name"], str)
        and re.fullmatch(NAME, voter["name"]) is not None
        and isinstance(family, (str, NoneType))
        and isinstance(weight, (int, float))
        and 0 <= weight <= MAX_WEIGHT
        and isinstance(voter["primary"], bool)
    )


# -- the files of all recorded replies, those to HTTP requests of models included


def read_reply(path: Path) -> Any:
    """The JSON of a recorded reply.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not JSON.
    """
    return strict_loads(read_regular(path, _MAX_FILE))


def write_reply(path: Path, text: str) -> None:
    """Write a recorded reply; its folder is made.

    Raises:
        RecordError: It cannot be written, or another file would be replaced.
    """
    write_text(path, f"{text}\n", _RECORDED)


def _was_recorded(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        data = read_reply(path)
        return isinstance(data, dict) and (_is_cassette(data) or data.keys() >= _FETCHED)
    return False


_FETCHED = {"request", "reply"}
"""The keys of a recorded reply to an HTTP request."""
_RECORDED = FileKind("a recorded reply", _was_recorded, makes_folder=True)
