"""Makes a task durable: the result of each act is stored, and only unfinished acts are repeated.

A continued task runs its loop from the start. The results of finished acts and the clock come from
the store, so that the loop decides as before, up to the first act without a result. An answer is
announced before it is sent: if it was announced in an earlier run and has no stored reply, it may
have arrived. Its reply is then `in_doubt`, and it is not sent automatically.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any

from ...solver.decisions.decision_text import from_data
from ..net.gate import Gate
from ..net.submit import SubmitReply
from ..page.page_fetch import fetched_page_from
from .task import TaskResult
from .task_context import TaskContext
from .workspace import Workspace

Step = Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Runs an act and stores the JSON value it returns, or returns the value stored before."""
_READ: dict[str, Callable[[Any], Any]] = {
    "look": fetched_page_from,
    "think": lambda data: data and from_data(data, "a decision that was stored"),
    "send": lambda data: SubmitReply(**data),
}


async def durable(
    tools: TaskContext, step: Step, wall: Callable[[], float] = time.time
) -> TaskContext:
    """The task's context, with the results of all acts stored.

    Args:
        tools: The task's context.
        step: Stores results of acts; the nth call of a task always means the same act.
        wall: Gives the time in seconds, the same on all machines.
    """
    course = _TaskProgress(step, tools.gate, wall)
    await course.once("begin", _nothing)

    def live(report: Callable[[TaskResult], None]) -> Callable[[TaskResult], None]:
        """Call `report` only with news: a record must not go back to an earlier state."""
        return lambda result: report(result) if course.live else None

    return replace(
        tools,
        once=course.once,
        clock=lambda: course.now,
        on_page_done=live(tools.on_page_done),
        on_progress=live(tools.on_progress),
        workspace=_MutedWorkspace(tools.workspace.folder, tools.workspace.redaction, course),
    )


async def _nothing() -> None:
    """An act that only marks a time."""


async def _in_doubt() -> SubmitReply:
    reason = "the process ended while it was being sent: it may have arrived"
    return SubmitReply("in_doubt", reason=reason, tries=0)


@dataclass
class _TaskProgress:
    """The progress of a task."""

    step: Step
    gate: Gate
    wall: Callable[[], float]
    now: float = 0.0
    """When the last act ended; while an act is done, when it began."""
    live: bool = field(default=True)
    """Whether the last act is, or was, done in this run."""

    async def once(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        """The result of an act; a submission is announced first."""
        if name != "send":
            return await self._do_once(name, act)
        await self._do_once("announce", _nothing)
        return await self._do_once(name, act if self.live else _in_doubt)

    async def _do_once(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        self.live = False

        async def do() -> dict[str, Any]:
            self.live, self.now, before = True, self.wall(), len(self.gate.refused)
            value = await act()
            data = asdict(value) if is_dataclass(value) else value  # type: ignore[arg-type]
            return {"value": data, "at": self.wall(), "refused": self.gate.refused[before:]}

        stored = await self.step(name, do)
        for refused in stored["refused"]:
            self.gate.refuse(refused)
        self.now = stored["at"]
        return _READ.get(name, _same)(stored["value"])


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class _MutedWorkspace(Workspace):
    """A workspace whose log is not written a second time."""

    course: _TaskProgress

    def note(self, line: str) -> None:
        """Add a line to the log, unless it is about an act of an earlier run."""
        if self.course.live:
            super().note(line)
