"""A request to a model, and the protocol of its transports: live, recorded, or a person.

Pure data and a protocol. A transport returns the text of a reply, or raises if there is none.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol

from ..contract import C
from ..decisions.decision import ReplyStatus, Source

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""The pattern of a model's name, which also names files."""
MAX_WEIGHT = 1000.0
"""Maximum weight of a vote."""
Turn = Literal["solve", "reconcile"]
"""The round in which a model is asked."""


@dataclass(frozen=True)
class Voter:
    """A model, program or person that is asked, and the weight of its vote."""

    name: str
    """Its name in decisions."""
    family: str | None = None
    """The provider family it belongs to."""
    weight: float = 1.0
    primary: bool = False
    """Whether its answer counts if no other rule decides."""
    seconds: float = 45.0
    """Seconds that it may take, repair included."""


@dataclass(frozen=True)
class ChatMessage:
    """A message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Prompt(Generic[C]):
    """A request to a model. Contains no key."""

    turn: Turn
    messages: tuple[ChatMessage, ...]
    contract: type[C]
    """The class of the reply."""
    deadline: float = math.inf
    """Time on the monotonic clock after which no reply is needed; not part of the request."""

    def digest(self, model: str) -> str:
        """A digest of this request to a model: equal requests have equal digests."""
        messages = [[message.role, message.content] for message in self.messages]
        data = json.dumps([model, self.turn, messages])
        return hashlib.sha256(data.encode()).hexdigest()


@dataclass(frozen=True)
class TransportReply:
    """A reply's text and where it comes from."""

    text: str
    source: Source
    seconds: float | None = None
    """Seconds it took when it was recorded; None for a live reply."""


class NoReplyError(Exception):
    """A model gave no reply.

    Args:
        status: How the request ended.
        message: Why, in one line; may contain untrusted text.
    """

    def __init__(self, status: ReplyStatus, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Transport(Protocol):
    """Answers requests to one model. Raises only NoReplyError as far as it can foresee."""

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The reply to a request. Has no time limit of its own: the caller sets one."""
