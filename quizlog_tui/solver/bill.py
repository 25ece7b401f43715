"""Who may bill what is asked, and how often that was. No price is known here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..text import plural
from .models.transport import Prompt, Said, Transport


def cost_text(names: Sequence[str]) -> str:
    """What a question costs, in a line to be shown before models behind endpoints are asked."""
    asked = f"each question is sent to {', '.join(names)}, again where they differ"
    return f"{asked}; their providers may bill it"


@dataclass
class Bill:
    """What models behind endpoints are asked."""

    names: tuple[str, ...] = ()
    """The models."""
    requests: int = 0
    """How many were sent to them."""

    @property
    def spent(self) -> str:
        """What was asked of them, in a line."""
        sent = f"{plural(self.requests, 'request')} sent to {', '.join(self.names)}"
        return f"{sent}: what their providers bill is not known here"

    def counting(self, name: str, endpoint: Transport) -> Transport:
        """An endpoint whose requests count."""
        self.names = (*self.names, name)
        return _Counted(endpoint, self)


class _Counted:
    """Counts the requests to an endpoint."""

    def __init__(self, endpoint: Transport, bill: Bill) -> None:
        self._endpoint = endpoint
        self._bill = bill

    async def complete(self, prompt: Prompt[Any]) -> Said:
        """Its reply."""
        self._bill.requests += 1
        return await self._endpoint.complete(prompt)
