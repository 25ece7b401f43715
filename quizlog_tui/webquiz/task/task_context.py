"""The context of a task: all that acts, for the loop that only decides."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import httpx

from ...solver.decisions.decision import Decision, ModelQuestion, Refusal
from ...solver.redaction import Redaction
from ...solver.solve import FetchTool
from ..net.address import Allowed
from ..net.gate import Gate
from ..page.browser import Tab
from .budget import Budget
from .task import PageResult, TaskResult
from .workspace import Workspace

Solve = Callable[[ModelQuestion, Path, tuple[Refusal, ...], float, FetchTool], Awaitable[Decision]]
"""Asks the models, given question, folder of files, refused answers, seconds and fetch tool."""
T = TypeVar("T")


class Once(Protocol):
    """Performs the acts that affect the world: `look`, `think`, `pause`, `send`.

    Everything between the acts follows from their results and from `TaskContext.clock`.
    """

    async def __call__(self, name: str, act: Callable[[], Awaitable[T]]) -> T:
        """The result of an act, performed now or stored by an earlier run of the task."""
        ...


async def _now(name: str, act: Callable[[], Awaitable[T]]) -> T:
    return await act()


async def _store_nothing(page: PageResult) -> None:
    """Store nothing, for a task that does not outlive its process."""


@dataclass(frozen=True)
class TaskContext:
    """The means of a task to act."""

    tab: Tab
    gate: Gate
    http: httpx.AsyncClient
    """The client that goes through the gate."""
    solve: Solve
    workspace: Workspace
    redaction: Redaction
    budget: Budget = field(default_factory=Budget)
    disk: int = 256 * 1024 * 1024
    """Maximum number of bytes of the task's files."""
    recorded: Path | None = None
    """Folder of recorded replies to requests of models, if no request is sent."""
    clock: Callable[[], float] = time.time
    on_page_done: Callable[[TaskResult], None] = lambda result: None
    """Called with the task's state after each page."""
    on_progress: Callable[[TaskResult], None] = lambda result: None
    """Called with the task's state while its last page is open: first, and after each answer."""
    store_decision: Callable[[Decision], Decision] = lambda decision: decision
    """Stores a decision."""
    once: Once = _now
    store_page: Callable[[PageResult], Awaitable[None]] = _store_nothing
    """Stores the result of a page."""

    @property
    def allowed(self) -> Allowed:
        """The sites that the task may reach."""
        return self.gate.allowed
