"""Finds the decisions that belong to each step of the active branch. Draws nothing.

A decision names the branch and the step of its question. It also belongs to branches that fork from
that branch at that step or later, since they share the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..record.lineage import lineage
from ..record.model import Record
from ..session.timeline import Asked

if TYPE_CHECKING:
    from ..solver.decisions.decision import Decision

SIGN = "◆"
"""The sign of a step that has a decision."""


def decisions_by_step(decisions: Sequence[Decision], record: Record) -> dict[int, list[int]]:
    """For each step of the active branch that has any, its decisions as indexes, oldest first."""
    reach = lineage(record, record.branch)
    found: dict[int, list[int]] = {}
    for index, decision in enumerate(decisions):
        asked = decision.question
        branch = record.branch if asked.branch is None else asked.branch
        if asked.pointer is not None and asked.pointer <= reach.get(branch, -1):
            found.setdefault(asked.pointer, []).append(index)
    return dict(sorted(found.items()))


def model_work_by_step(decisions: Sequence[Decision], record: Record) -> dict[int, Asked]:
    """For each step of the active branch that has decisions, what asking models took."""
    found = {}
    for step, indexes in decisions_by_step(decisions, record).items():
        made = [decisions[index] for index in indexes]
        live = {reply.name for each in made for reply in each.models if reply.source == "live"}
        first = [reply.seconds for each in made for reply in each.models if reply.name in live]
        again = [
            reply.seconds for each in made for reply in each.reconciliation if reply.name in live
        ]
        if first:
            found[step] = Asked(len(first) + len(again), sum(first) + sum(again))
    return found


def marks(decisions: Sequence[Decision], record: Record) -> dict[int, str]:
    """The steps of the active branch that have a decision, each with the sign."""
    return dict.fromkeys(decisions_by_step(decisions, record), SIGN)


def nearest(decisions: Sequence[Decision], record: Record, step: int) -> int:
    """The decision to show first at a step: its last, or that of the nearest step before it."""
    steps = decisions_by_step(decisions, record)
    before = [at for at in steps if at <= step] or list(steps)[:1]
    return steps[before[-1]][-1] if before else 0
