"""The reply that every front end shows after every move, and the list of branches with outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..record.model import STATUSES, LastError, Record, Status
from ..replay.transcript import Step, Transcript

_TEXT = {"type": "string"}
_NO_TEXT = {"type": ["string", "null"]}
_NUMBER = {"type": ["number", "null"]}
_KEYS: dict[str, Any] = {
    "schema_version": {"type": "integer", "const": 1},
    "status": {"enum": [*STATUSES]},
    "pointer": {"type": "integer"},
    "next_prompt": _NO_TEXT,
    "input_type": _NO_TEXT,
    "choices": {"type": "array", "items": _TEXT},
    "print": {"type": "array", "items": _TEXT},
    "last_error": {
        "type": ["object", "null"],
        "properties": {"message": _TEXT, "line": {"type": ["integer", "null"]}, "score": _NUMBER},
    },
    "score": _NUMBER,
    "branch": _TEXT,
    "record": _NO_TEXT,
}
REPLY_SCHEMA = {"type": "object", "properties": _KEYS, "required": list(_KEYS)}
"""The JSON schema of a reply as every door gives it."""


@dataclass(frozen=True)
class Reply:
    """The state of a questionnaire, with the keys of the trace format's response, and more."""

    transcript: Transcript
    """The run up to the pointer."""
    branch: str
    """The active branch."""
    record: str
    """Path of the record."""
    since: int = 0
    """Number of steps already seen; `print` omits their strings."""

    @property
    def status(self) -> Status:
        """`in_progress`, `success` or `error`."""
        return self.transcript.status

    @property
    def pointer(self) -> int:
        """Index of the next unanswered question."""
        return len(self.transcript.steps)

    @property
    def next_prompt(self) -> str | None:
        """The pending question; None if there is none."""
        return self.transcript.next_prompt

    @property
    def input_type(self) -> str | None:
        """Kind of answer wanted; None if nothing is asked."""
        return self.transcript.input_type

    @property
    def choices(self) -> Sequence[str]:
        """The options, if the question names them."""
        return self.transcript.choices

    @property
    def print(self) -> Sequence[str]:
        """The printed strings, without those of the first `since` steps."""
        if not self.since:
            return self.transcript.print
        return tuple(text for step in self.new_steps for text in step.print)

    @property
    def new_steps(self) -> Sequence[Step]:
        """All steps and the last stop, without the first `since` steps."""
        return (*self.transcript.steps[self.since :], self.transcript.last)

    @property
    def last_error(self) -> LastError | None:
        """The exception, if the script raised."""
        return self.transcript.last_error

    @property
    def score(self) -> float | None:
        """1 when finished, the partial score of an error, None while asking."""
        return self.transcript.score

    def newest(self) -> Reply:
        """The reply with only the strings printed since the last answer."""
        return replace(self, since=self.pointer)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        error = self.last_error
        return {
            "status": self.status,
            "pointer": self.pointer,
            "next_prompt": self.next_prompt,
            "input_type": self.input_type,
            "choices": list(self.choices),
            "print": list(self.print),
            "last_error": error and error.to_dict(),
            "score": self.score,
            "branch": self.branch,
            "record": self.record,
        }


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
