"""Asks whether the gold run of an episode holds only here, as `quizlog verify` does."""

from __future__ import annotations

from ...proof.verify import verify_branches
from ...record.append_only_list import AppendOnlyList
from ...record.model import Record
from ...replay.process.process import Limits
from ...replay.uncached_runs import UncachedRuns
from .instance import Instance
from .runs import Replayed


def fragility(limits: Limits, instance: Instance, gold: Replayed) -> str | None:
    """Why another world would not show what the gold run shows, in a clause; None if it would.

    Args:
        limits: Bounds on the script.
        instance: The script with its seed.
        gold: The run.
    """
    run = gold.run
    extras = {"start_time": run.start_time} if run.start_time else {}
    bare = Record(
        instance.source.path.name,
        instance.seed,
        AppendOnlyList(run.inputs),
        len(run.inputs),
        extras=extras,
    )
    verdict = verify_branches(bare, instance.source, UncachedRuns(limits))
    return f"at step {verdict.step} {verdict.reason}" if verdict.differs else None
