"""Who answered and how long it took: a row for each answer, and the sums in a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...session.timeline import UNKNOWN, Effort, StepEffort, total_effort
from ...text import one_line, plural
from ..clock import Clock
from ..widgets.lines.columns import Cell, Grid, Layout, cells_line, layout, widest
from ..widgets.lines.documents import Line

ORDERS = ("step", "who", "waited", "script", "models")
"""The columns that the list may be sorted by."""
_MOST_GIVERS = 3


def arranged_efforts(steps: Sequence[StepEffort], order: str) -> list[StepEffort]:
    """The answers by a column: by step or name upwards, the longest first; unknown ones last."""
    if order == "who":
        return sorted(steps, key=lambda step: (step.giver, step.at))
    amounts: dict[str, Callable[[StepEffort], float | None]] = {
        "waited": lambda step: step.waited,
        "script": lambda step: step.script,
        "models": lambda step: step.asked.seconds if step.asked else None,
    }
    amount = amounts.get(order)
    if amount is None:
        return sorted(steps, key=lambda step: step.at)
    known = {step.at: -1.0 if (value := amount(step)) is None else value for step in steps}
    return sorted(steps, key=lambda step: (-known[step.at], step.at))


def effort_layout(steps: Sequence[StepEffort], answers: Sequence[str]) -> Callable[[int], Layout]:
    """The columns for a width."""
    who = widest(step.giver for step in steps)
    columns = {
        "step": 6,
        "who": max(6, min(24, who)),
        "waited": 8,
        "script": 8,
        "models": 16,
        "door": 7,
        "when": 10,
        "answer": max(12, min(40, widest(answers))),
    }
    if not any(step.asked for step in steps):
        del columns["models"]
    least = {"answer": 12, "who": max(6, min(12, who)), "door": 7, "when": 10}
    return lambda width: layout(width, columns, least)


def effort_grid(
    steps: Sequence[StepEffort],
    answers: Sequence[str],
    clock: Clock,
    lay_out: Callable[[int], Layout],
) -> Grid:
    """A row for each answer.

    Args:
        steps: What each took, in the order shown.
        answers: All answers, by step.
        clock: How times are told.
        lay_out: The columns for a width.
    """

    def make(index: int, columns: Layout) -> Line:
        step = steps[index]
        return cells_line(columns, _cells(step, answers[step.at], clock))

    def text(index: int) -> str:
        step = steps[index]
        return f"{step.at} {step.giver} {step.door or ''} {answers[step.at]}"

    return Grid(len(steps), lay_out, make, text)


def _cells(step: StepEffort, answer: str, clock: Clock) -> dict[str, Cell]:
    asked = step.asked
    models = f"{asked.requests} in {clock.duration(asked.seconds)}" if asked else ""
    return {
        "step": f"{step.at:6}",
        "who": one_line(step.giver),
        "waited": _seconds(step.waited, clock),
        "script": _seconds(step.script, clock),
        "models": models,
        "door": (one_line(step.door or ""), "dim"),
        "when": (clock.describe(step.time), "dim"),
        "answer": (one_line(answer) or "(empty)", "answer"),
    }


def _seconds(seconds: float | None, clock: Clock) -> str:
    return "" if seconds is None else f"{clock.duration(seconds):>8}"


def giver_and_time(step: StepEffort, clock: Clock) -> str:
    """Who gave an answer and when, as far as that is known."""
    giver = "" if step.giver == UNKNOWN else step.giver
    return " · ".join(filter(None, (giver, clock.describe(step.time))))


def sums_title(steps: Sequence[StepEffort], clock: Clock) -> str:
    """The title of a timeline: with the sums, where more than the script's time is recorded."""
    effort = total_effort(steps)
    known = effort.requests or set(effort.givers) - {UNKNOWN}
    sums = effort_text(effort, clock).replace("[", "\\[") if known else ""
    return " · ".join(filter(None, ("Answers", sums)))


def effort_text(effort: Effort, clock: Clock) -> str:
    """The sums in a line; who gave answers only as far as somebody is known."""
    said = [f"script {clock.duration(effort.script)}"]
    if effort.waited is not None:
        said.append(f"waited {clock.duration(effort.waited)}")
    if effort.requests:
        said.append(plural(effort.requests, "model request"))
    givers = [f"{one_line(name)} {count}" for name, count in effort.givers.items()]
    more = ["…"] if len(givers) > _MOST_GIVERS else []
    return " · ".join([*said, *givers[:_MOST_GIVERS], *more])
