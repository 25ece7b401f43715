"""What is asked of a model, and the seam behind which it is answered: live, recorded, by a person.

Pure data and a protocol. A transport gives the text of a reply, or says why there is none.
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
"""The most one vote may weigh."""
Turn = Literal["solve", "reconcile"]
"""Which of the two questions is put to a model."""


@dataclass(frozen=True)
class Voter:
    """Who is asked, and what the vote is worth."""

    name: str
    """Its name in decisions."""
    family: str | None = None
    """The provider family it belongs to."""
    weight: float = 1.0
    primary: bool = False
    """Whether its answer counts where no other rule decides."""
    seconds: float = 45.0
    """How long it may take, repair included."""


@dataclass(frozen=True)
class ChatMessage:
    """A part of the conversation, as chat endpoints name them."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Prompt(Generic[C]):
    """What a model is asked. Holds no key."""

    turn: Turn
    messages: tuple[ChatMessage, ...]
    contract: type[C]
    """What the reply must be."""
    deadline: float = math.inf
    """When the reply is of no use any more, on the monotonic clock; no part of the request."""

    def digest(self, model: str) -> str:
        """A name for this request to a model: equal requests have equal names."""
        said = [[message.role, message.content] for message in self.messages]
        data = json.dumps([model, self.turn, said])
        return hashlib.sha256(data.encode()).hexdigest()


@dataclass(frozen=True)
class Said:
    """A reply's text and where it comes from."""

    text: str
    source: Source
    seconds: float | None = None
    """How long it took when it was recorded; None for now."""


class NoReplyError(Exception):
    """There is no reply.

    Args:
        status: How asking ended.
        message: Why, in a line; may hold foreign text.
    """

    def __init__(self, status: ReplyStatus, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Transport(Protocol):
    """Answers requests to one model. Raises NoReplyError, and nothing else it can foresee."""

    async def complete(self, prompt: Prompt[Any]) -> Said:
        """The reply to a request. Waits as long as it takes: the caller bounds the time."""
