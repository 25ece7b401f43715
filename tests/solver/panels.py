"""Panels of scripted voters, in process, with code run in process: it is the tests' own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quizlog_tui.sandbox.result import ExecResult
from quizlog_tui.solver.models.transport import (
    ModelClient,
    NoReplyError,
    Prompt,
    TransportReply,
    Voter,
)
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.solver.solve import Panel

Script = Callable[[Prompt], Awaitable[str]]


@dataclass
class Scripted:
    """A transport that says what a function returns, and remembers what it was asked."""

    script: Script
    calls: list[Prompt] = field(default_factory=list)

    async def complete(self, prompt: Prompt) -> TransportReply:
        self.calls.append(prompt)
        return TransportReply(await self.script(prompt), "live")


def saying(first: Mapping[str, Any], second: Mapping[str, Any] | None = None) -> Script:
    """A first reply, and one for the second round."""

    async def script(prompt: Prompt) -> str:
        return json.dumps(first if prompt.turn == "solve" else second)

    return script


def failing(status: Any, message: str = "why") -> Script:
    async def script(prompt: Prompt) -> str:
        raise NoReplyError(status, message)

    return script


async def never(prompt: Prompt) -> str:
    await asyncio.Event().wait()
    raise AssertionError


async def run_here(code: str, folder: Path | None) -> ExecResult:
    names: dict[str, Any] = {"FOLDER": folder}
    try:
        exec(code, names)
    except Exception as error:
        return ExecResult("error", None, "", "", f"{type(error).__name__}: {error}", 0.0, "none")
    return ExecResult("ok", names.get("answer"), "", "", None, 0.0, "none")


def panel(
    run: Any = run_here, weights: Mapping[str, float] | None = None, **scripts: Script
) -> Panel:
    """The first voter is the primary one."""
    clients = []
    for index, (name, script) in enumerate(scripts.items()):
        weight = (weights or {}).get(name, 1.0)
        voter = Voter(name, weight=weight, primary=index == 0, seconds=30.0)
        clients.append(ModelClient(voter, Scripted(script), Redaction()))
    return Panel(clients, run)


def calls(one: Panel, name: str) -> list[Prompt]:
    """What a voter was asked."""
    client = next(client for client in one.clients if client.voter.name == name)
    found: list[Prompt] = client._transport.calls  # type: ignore[attr-defined]
    return found
