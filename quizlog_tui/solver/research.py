"""The first round for a model that may ask for HTTP requests: it is asked again with the results.

This module sends nothing itself: the caller provides a tool that sends requests to certain sites.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from .contract import FetchRequest, Research, Solution
from .decisions.decision import Fetched
from .models.client import ModelResult
from .prompts import Offer

ROUNDS = 4
"""Number of times that one model may ask for requests before it must answer."""


@dataclass(frozen=True)
class FetchTool:
    """Sends the HTTP requests that models ask for."""

    sites: tuple[str, ...]
    """Allowed origins."""
    fetch: Callable[[str, FetchRequest], Awaitable[tuple[Fetched, ...]]]
    """Sends a request of the named model. Raises for no fault of the model or of a server."""


async def research(
    name: str, tool: FetchTool, ask: Callable[[Offer], Awaitable[ModelResult[Solution]]]
) -> tuple[ModelResult[Solution], tuple[Fetched, ...]]:
    """A model's final reply of the first round, and the results of its requests.

    Args:
        name: The model's name.
        tool: Sends the requests.
        ask: Asks the model, given the permission for requests and the results so far.
    """
    fetched: tuple[Fetched, ...] = ()
    seconds = 0.0
    for rounds in range(ROUNDS, -1, -1):
        reply = await ask(Offer(tool.sites, rounds, fetched))
        seconds += reply.seconds
        requests = reply.parsed.fetch if isinstance(reply.parsed, Research) else ()
        if not requests:
            break
        for results in await asyncio.gather(*(tool.fetch(name, request) for request in requests)):
            fetched += results
    return replace(reply, seconds=round(seconds, 3)), fetched
