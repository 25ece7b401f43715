"""Decides `verified`: what independent runs agree on, and whether that verifies the gold run.

The builder writes its result, and the checker compares with it. Answers are equal exactly if their
hashes are. The rules are stricter than the schema's three guarantees: a majority is more than half
of the runs that answered, the script accepted the gold run in a replay, nothing in the script makes
replays meaningless, and no gold answer was given after seeing other models' answers. Standard
library only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict

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
    """Hash of the most frequent answer; of equally frequent ones the smallest."""
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


def triangulate(gold: Answer, others: Sequence[Answer]) -> Triangulation:
    """Compare the gold run's answer with those of the consistency runs, in any order."""
    counts = Counter(key for key, _ in others if key is not None)
    if not counts:
        return Triangulation(len(others), 0, None, 0, gold_matches=False)
    succeeded = counts.total()
    majority = min(counts, key=lambda key: (-counts[key], key))
    matches = majority == gold[0] and 2 * counts[majority] > succeeded
    return Triangulation(len(others), succeeded, majority, counts[majority], matches)


class Standing(NamedTuple):
    """The properties of a gold run that `verified` depends on, besides the others' answers."""

    success: bool
    """Whether the script finished when its answers were replayed."""
    reconciled: bool = False
    """Whether an answer was given after seeing other models' answers."""
    doubt: str | None = None
    """Why a replay proves nothing, in a clause; None if it does."""


class _GoldRun(TypedDict):
    """What the standing of a gold run depends on, a part of its trace."""

    execution_success: bool
    submission_metadata: dict[str, object]


def standing(gold: _GoldRun) -> Standing:
    """The standing of a gold run, from its trace."""
    metadata = gold["submission_metadata"]
    doubt = metadata.get("unverifiable")
    return Standing(
        gold["execution_success"],
        bool(metadata.get("reconciled")),
        None if doubt is None else str(doubt),
    )


class Check(NamedTuple):
    """One condition for `verified`."""

    holds: bool
    text: str
    """What is the case, for people."""
    short: str = ""
    """The clause for `not_verified_because` if it is another one."""


def checks(found: Triangulation, gold: Standing) -> Iterator[Check]:
    """The conditions for `verified`; those that need an answer are left out if there is none."""
    finishes = "finishes" if gold.success else "does not finish"
    yield Check(gold.success, f"the script {finishes} on the gold answers")
    taken = "a gold answer was" if gold.reconciled else "no gold answer was"
    yield Check(not gold.reconciled, f"{taken} taken from a reconciliation")
    if gold.doubt is not None:
        yield Check(False, f"the script cannot be verified: {gold.doubt}")
    yield _answered(found)
    if not found.succeeded:
        return
    strict = 2 * found.majority_count > found.succeeded
    agree = f"{found.majority_count} of the {found.succeeded} that answered agree"
    more = "more" if strict else "not more"
    yield Check(strict, f"{agree}: {more} than half", "no answer has a majority")
    if strict:
        gave = "gave the gold answer" if found.gold_matches else "gave another answer"
        yield Check(found.gold_matches, f"the majority {gave}")


def _answered(found: Triangulation) -> Check:
    if not found.runs:
        return Check(False, "there is no consistency run", "no consistency run")
    text = f"{found.succeeded or 'none'} of {found.runs} consistency runs came to an answer"
    return Check(found.succeeded > 0, text, "no consistency run has an answer")


def reasons_against(found: Triangulation, gold: Standing) -> list[str]:
    """Why an episode is not verified, one short clause each; empty if it is."""
    if found.gold_matches and gold == _SOUND:
        return []
    return [check.short or check.text for check in checks(found, gold) if not check.holds]


_SOUND = Standing(success=True)
