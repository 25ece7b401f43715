"""Decides `verified`: what independent runs agree on, and whether that verifies the gold run.

The builder writes its result, and the checker compares with it. The rules are stricter than the
schema's three guarantees: a majority is more than half of the runs that answered, the script
accepted the gold run in a replay, nothing in the script makes replays meaningless, and no gold
answer was given after seeing other models' answers. Standard library only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from .matching import Matcher, clusters

if TYPE_CHECKING:
    from .schema import TriangulationMetadata

Answer = tuple[str | None, object]
"""The hash of a run's final answer and the answer; both None if the run failed."""


class Triangulation(NamedTuple):
    """The outcome of comparing the gold run with the others."""

    runs: int
    """Number of consistency runs."""
    succeeded: int
    """Number of them with an answer."""
    majority_hash: str | None
    """Hash of the most frequent answer; the gold answer's if that counts as the same."""
    majority_count: int
    """Number of runs that gave it."""
    gold_matches: bool
    """Whether more than half of the runs with an answer gave the gold answer."""

    def to_dict(self) -> TriangulationMetadata:
        """The schema's `triangulation_metadata`."""
        return {
            "n_consistency_runs": self.runs,
            "n_consistency_succeeded": self.succeeded,
            "majority_answer_hash": self.majority_hash,
            "majority_count": self.majority_count,
            "gold_matches_majority": self.gold_matches,
        }


def triangulate(gold: Answer, others: Sequence[Answer], matcher: Matcher) -> Triangulation:
    """Compare the gold run's answer with those of the consistency runs, in any order."""
    keys = [key for key, _ in others if key is not None]
    succeeded = len(keys)
    if not succeeded:
        return Triangulation(len(others), 0, None, 0, gold_matches=False)
    if keys.count(gold[0] or "") == succeeded:  # the usual case: all are equal by hash
        return Triangulation(len(others), succeeded, gold[0], succeeded, gold_matches=True)
    counts = Counter(keys)
    answered = [(key, value) for key, value in (*others, gold) if key is not None]
    size, group = _largest(clusters(answered, matcher), counts)
    strict = 2 * size > succeeded
    matches = strict and gold[0] in group
    majority = gold[0] if matches else min(group, key=lambda key: (-counts[key], key))
    return Triangulation(len(others), succeeded, majority, size, matches)


def _largest(groups: Sequence[frozenset[str]], counts: Counter[str]) -> tuple[int, frozenset[str]]:
    """The cluster with the most runs; of equal ones that with the smallest hash."""
    sized = [(-sum(counts[key] for key in group), min(group), group) for group in groups]
    size, _, group = min(sized, key=lambda item: item[:2])
    return -size, group


class Standing(NamedTuple):
    """The properties of a gold run that `verified` depends on, besides the others' answers."""

    success: bool
    """Whether the script finished when its answers were replayed."""
    reconciled: bool = False
    """Whether an answer was given after seeing other models' answers."""
    doubt: str | None = None
    """Why a replay proves nothing, in a clause; None if it does."""


class GoldRun(TypedDict):
    """What the standing of a gold run depends on, a part of its trace."""

    execution_success: bool
    submission_metadata: dict[str, object]


def standing(gold: GoldRun) -> Standing:
    """The standing of a gold run, from its trace."""
    metadata = gold["submission_metadata"]
    doubt = metadata.get("unverifiable")
    return Standing(
        gold["execution_success"],
        bool(metadata.get("reconciled")),
        None if doubt is None else str(doubt),
    )


def reasons_against(found: Triangulation, gold: Standing) -> list[str]:
    """Why an episode is not verified, one short clause each; empty if it is."""
    if found.gold_matches and gold == _SOUND:
        return []
    checks = [
        (not gold.success, "the script does not finish on the gold answers"),
        (gold.reconciled, "a gold answer was taken from a reconciliation"),
        (gold.doubt is not None, f"the script cannot be verified: {gold.doubt}"),
        (not found.runs, "no consistency run"),
        (bool(found.runs) and not found.succeeded, "no consistency run has an answer"),
        (
            bool(found.succeeded) and 2 * found.majority_count <= found.succeeded,
            "no answer has a majority",
        ),
        (
            2 * found.majority_count > found.succeeded and not found.gold_matches,
            "the majority gave another answer",
        ),
    ]
    return [reason for holds, reason in checks if holds]


_SOUND = Standing(success=True)
