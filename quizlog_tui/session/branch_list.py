"""The branches of a record with their outcomes, for lists and trees."""

from __future__ import annotations

from dataclasses import dataclass

from ..record.model import Record, Status
from ..replay.transcript import Transcript


@dataclass(frozen=True)
class BranchInfo:
    """One branch with its outcome."""

    name: str
    active: bool
    parent: str | None
    """The branch it forked from; None for the first."""
    at: int
    """Number of answers that it shares with its parent."""
    length: int
    """Number of all its answers, including shared ones."""
    status: Status | None
    """Its status at its end; of the active one, at the pointer. None if not known."""
    score: float | None
    created: str | None
    note: str | None
    deleted: str | None
    """When it was deleted; None if it was not."""


def branch_list(record: Record, transcript: Transcript) -> list[BranchInfo]:
    """All branches, including deleted ones, oldest first.

    Args:
        record: The record.
        transcript: The run of the active branch up to the pointer.
    """
    return [_info(record, transcript, name) for name in record.all_names]


def _info(record: Record, transcript: Transcript, name: str) -> BranchInfo:
    active = name == record.branch
    entry = record.branches.get(name)
    return BranchInfo(
        name=name,
        active=active,
        parent=entry.parent if entry else None,
        at=entry.at if entry else 0,
        length=record.length_of(name),
        status=transcript.status if active else entry.status if entry else None,
        score=transcript.score if active else entry.score if entry else None,
        created=entry.created if entry else None,
        note=entry.note if entry else None,
        deleted=entry.deleted if entry else None,
    )
