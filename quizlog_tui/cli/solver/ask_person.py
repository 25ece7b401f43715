"""Asks the person at the terminal for a vote."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

from ...text import visible

if TYPE_CHECKING:
    from ...solver.models.transport import Prompt


async def ask_person(prompt: Prompt[Any]) -> str | None:
    """Read a line from the terminal; None at its end. Can be cancelled."""
    asked = json.loads(prompt.messages[-1].content)
    text = visible(f"{asked['context']}\n{asked['question']}".strip())
    print(f"your vote (an empty line abstains)\n{text}", end=" ", file=sys.stderr, flush=True)
    line = await _line()
    return line.rstrip("\n") if line.strip() else None


async def _line() -> str:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    try:
        loop.add_reader(sys.stdin, _settle, ready)
    except (PermissionError, NotImplementedError):  # a file, or a system without this
        return sys.stdin.readline()
    try:
        await ready
        return sys.stdin.readline()
    finally:
        loop.remove_reader(sys.stdin)


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
