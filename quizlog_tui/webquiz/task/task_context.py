"""What a task works with: all that acts. It is given to the loop, which only decides."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import httpx

from ...solver.decisions.decision import Decision, Question, Refusal
from ...solver.redaction import Redaction
from ...solver.research import FetchTool
from ..net.address import Allowed
from ..net.gate import Gate
from ..page.browser import Tab
from .budget import Budget
from .task import PageResult, TaskResult
from .workspace import Workspace

Solve = Callable[[Question, Path, tuple[Refusal, ...], float, FetchTool], Awaitable[Decision]]
"""Asks the models: question, folder of files, refused answers, seconds, what sends requests."""
T = TypeVar("T")


class Once(Protocol):
    """Does what touches the world: `look`, `think`, `pause`, `send`.

    All that happens between such acts follows from what came of them, and from `TaskContext.clock`.
    """

    async def __call__(self, name: str, act: Callable[[], Awaitable[T]]) -> T:
        """What comes of the act, done now or kept from an earlier run of the task."""
        ...


async def _now(name: str, act: Callable[[], Awaitable[T]]) -> T:
    return await act()


async def _unkept(page: PageResult) -> None:
    """A task that does not outlive its process."""


@dataclass(frozen=True)
class TaskContext:
    """What a task works with."""

    tab: Tab
    gate: Gate
    http: httpx.AsyncClient
    """Goes through the gate."""
    solve: Solve
    workspace: Workspace
    redaction: Redaction
    budget: Budget = field(default_factory=Budget)
    disk: int = 256 * 1024 * 1024
    """Bytes that the task's files may hold."""
    recorded: Path | None = None
    """Recorded replies to requests of models, if no request is sent."""
    clock: Callable[[], float] = time.time
    told: Callable[[TaskResult], None] = lambda result: None
    """Hears after each page how the task stands."""
    shown: Callable[[TaskResult], None] = lambda result: None
    """Hears how it stands while its last page is open: as that asks, and after each answer."""
    decided: Callable[[Decision], Decision] = lambda decision: decision
    """Keeps a decision."""
    once: Once = _now
    kept: Callable[[PageResult], Awaitable[None]] = _unkept
    """Keeps what came of a page."""

    @property
    def allowed(self) -> Allowed:
        """The sites the task may reach."""
        return self.gate.allowed
