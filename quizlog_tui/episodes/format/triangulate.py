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


def triangulate(gold: Answer, others: Sequence[Answer]) -> TriangulationMetadata:
    """Compare the gold run's answer with those of the consistency runs, in any order.

    Of equally frequent answers the one with the smallest hash is the majority's.
    """
    counts = Counter(key for key, _ in others if key is not None)
    succeeded = counts.total()
    majority = min(counts, key=lambda key: (-counts[key], key), default=None)
    agreeing = 0 if majority is None else counts[majority]
    return {
        "n_consistency_runs": len(others),
        "n_consistency_succeeded": succeeded,
        "majority_answer_hash": majority,
        "majority_count": agreeing,
        "gold_matches_majority": 2 * agreeing > succeeded and majority == gold[0],
    }


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


def checks(found: TriangulationMetadata, gold: Standing) -> Iterator[Check]:
    """The conditions for `verified`; those that need an answer are left out if there is none."""
    finishes = "finishes" if gold.success else "does not finish"
    yield Check(gold.success, f"the script {finishes} on the gold answers")
    taken = "a gold answer was" if gold.reconciled else "no gold answer was"
    yield Check(not gold.reconciled, f"{taken} taken from a reconciliation")
    if gold.doubt is not None:
        yield Check(False, f"the script cannot be verified: {gold.doubt}")
    yield _answered(found["n_consistency_runs"], found["n_consistency_succeeded"])
    succeeded, count = found["n_consistency_succeeded"], found["majority_count"]
    if not succeeded:
        return
    strict = 2 * count > succeeded
    agree = f"{count} of the {succeeded} that answered agree"
    more = "more" if strict else "not more"
    yield Check(strict, f"{agree}: {more} than half", "no answer has a majority")
    if strict:
        gave = "gave the gold answer" if found["gold_matches_majority"] else "gave another answer"
        yield Check(found["gold_matches_majority"], f"the majority {gave}")


def _answered(runs: int, succeeded: int) -> Check:
    if not runs:
        return Check(False, "there is no consistency run", "no consistency run")
    text = f"{succeeded or 'none'} of {runs} consistency runs came to an answer"
    return Check(succeeded > 0, text, "no consistency run has an answer")


def reasons_against(found: TriangulationMetadata, gold: Standing) -> list[str]:
    """Why an episode is not verified, one short clause each; empty if it is."""
    if found["gold_matches_majority"] and gold == _SOUND:
        return []
    return [check.short or check.text for check in checks(found, gold) if not check.holds]


_SOUND = Standing(success=True)
