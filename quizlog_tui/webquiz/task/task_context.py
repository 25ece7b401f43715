"""The context of a task: all that acts, and how the time of a page is divided.

The loop of the task only decides; everything that affects the world goes through here.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import httpx

from ...solver.decision import Decision, ModelQuestion, Refusal
from ...solver.redaction import Redaction
from ...solver.solve import FetchTool, Shares
from ..net.address import Allowed
from ..net.gate import Gate
from ..page.browser import Tab
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


_THINKING = Shares(model=45.0, second=40.0)


@dataclass(frozen=True)
class Budget:
    """Seconds of one page, counted from when its URL was issued."""

    render: float = 8.0
    download: float = 15.0
    thinking: Shares = _THINKING
    """Shares of the time for an attempt; the sandbox limits the time of a model's code."""
    submissions: tuple[float, ...] = (75.0, 125.0, 160.0)
    """When the first, second and third answer should be sent at the latest; no more are sent."""
    stop: float = 172.0
    """When nothing more is sent."""
    least_gap: float = 1.2
    """Minimum seconds before an answer is sent, as one in the URL's first second may not count."""
    least_thought: float = 5.0
    """Minimum seconds for the models, as long as the page is not over."""

    def thought(self, attempt: int, age: float) -> float:
        """Seconds that models and their code may take before an attempt.

        A page whose own time for the attempt passed while it waited gets that of the next one.
        """
        left = [by - age for by in self.submissions[attempt:]]
        wished = next((one for one in left if one >= self.least_thought), self.least_thought)
        return max(0.0, min(wished, self.stop - age))

    def open(self, attempt: int, age: float) -> bool:
        """Whether another answer may be prepared."""
        if attempt >= len(self.submissions) or age >= self.stop:
            return False
        return attempt == 0 or age < self.submissions[attempt]


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
