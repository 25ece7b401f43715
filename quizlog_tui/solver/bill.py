"""Counts the requests that providers may bill. Prices are not known here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..text import plural
from .models.transport import Prompt, Transport, TransportReply


def cost_text(names: Sequence[str]) -> str:
    """What a question costs, in one line, to be shown before models behind endpoints are asked."""
    asked = f"each question is sent to {', '.join(names)}, again where they differ"
    return f"{asked}; their providers may bill it"


@dataclass
class Bill:
    """The requests sent to models behind endpoints."""

    names: tuple[str, ...] = ()
    """The names of the models."""
    requests: int = 0
    """Number of requests sent to them."""

    @property
    def spent(self) -> str:
        """The number of requests, in one line for the user."""
        sent = f"{plural(self.requests, 'request')} sent to {', '.join(self.names)}"
        return f"{sent}: quizlog does not know what their providers bill"

    def counting(self, name: str, endpoint: Transport) -> Transport:
        """A transport that counts the requests to an endpoint."""
        self.names = (*self.names, name)
        return _Counted(endpoint, self)


class _Counted:
    """Counts the requests to an endpoint."""

    def __init__(self, endpoint: Transport, bill: Bill) -> None:
        self._endpoint = endpoint
        self._bill = bill

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The endpoint's reply."""
        self._bill.requests += 1
        return await self._endpoint.complete(prompt)
