"""A model's first turn where it may ask for requests: it is asked again with what came of them.

Sends nothing itself: who asks a question gives the tool that does, and says which sites it reaches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from .contract import Research, Solution, Wish
from .decisions.decision import Fetched
from .models.client import Heard
from .prompts import Offer

ROUNDS = 4
"""How often one model may ask for requests before it must answer."""


@dataclass(frozen=True)
class FetchTool:
    """Sends the requests that models ask for."""

    sites: tuple[str, ...]
    """Origins that it reaches."""
    fetch: Callable[[str, Wish], Awaitable[tuple[Fetched, ...]]]
    """Sends what a model, by its name, asks for. Raises nothing that the model or a server does."""


async def research(
    name: str, tool: FetchTool, ask: Callable[[Offer], Awaitable[Heard[Solution]]]
) -> tuple[Heard[Solution], tuple[Fetched, ...]]:
    """A model's reply that asks for nothing more, and what came of its requests before.

    Args:
        name: The model.
        tool: Sends the requests.
        ask: Asks the model, with what it may ask for and what came of it so far.
    """
    fetched: tuple[Fetched, ...] = ()
    seconds = 0.0
    for rounds in range(ROUNDS, -1, -1):
        heard = await ask(Offer(tool.sites, rounds, fetched))
        seconds += heard.seconds
        wishes = heard.parsed.fetch if isinstance(heard.parsed, Research) else ()
        if not wishes:
            break
        for found in await asyncio.gather(*(tool.fetch(name, wish) for wish in wishes)):
            fetched += found
    return replace(heard, seconds=round(seconds, 3)), fetched
