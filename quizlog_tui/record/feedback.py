"""Remarks about a record's steps: its `feedback` extension.

A list of `{at, branch, author, time, verdict, text}`. What other tools put there is read as far as
it can be, and kept as it is. Pure functions; an answer is never touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import UsageError
from ..text import plural
from .lineage import check_branch, lineage, owner
from .model import Record

VERDICTS = ("right", "wrong", "unsure")
"""What can be said of an answer in a word. Others are read and kept, but not written."""
KEY = "feedback"
"""The key of the record."""


@dataclass(frozen=True)
class Feedback:
    """One remark."""

    at: int | None = None
    """Index of the answer it is about; None for the branch or record as a whole."""
    branch: str | None = None
    """The branch that has this answer as its own; None for all."""
    author: str | None = None
    """Who made it."""
    time: str | None = None
    """When, ISO 8601 in UTC."""
    verdict: str | None = None
    """One of `VERDICTS`, or what another tool wrote there; None for no verdict."""
    text: str = ""
    """What it says."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """What else another tool wrote there."""


def read(record: Record) -> list[Feedback]:
    """All remarks, in the order they stand in the record."""
    return [_from(item) for item in _items(record.extras)]


def _items(extras: Mapping[str, Any]) -> list[Any]:
    value = extras.get(KEY)
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _from(item: Any) -> Feedback:
    """One entry, whatever it is; what does not fit its key's type counts as unknown."""
    if not isinstance(item, Mapping):
        return Feedback(text=item if isinstance(item, str) else _plain(item))
    rest = dict(item)
    at = rest.get("at")
    if isinstance(at, int) and not isinstance(at, bool) and at >= 0:
        del rest["at"]
    else:
        at = None
    texts = {
        key: rest.pop(key)
        for key in ("branch", "author", "time", "verdict", "text")
        if isinstance(rest.get(key), str)
    }
    return Feedback(at=at, extras=rest, **texts)


def _plain(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def added(record: Record, said: Feedback) -> Record:
    """The record with one more remark, under the branch that has the answer as its own.

    Raises:
        UsageError: There is no such branch or step, the verdict is unknown, or nothing is said.
    """
    branch = said.branch if said.branch is not None else record.branch
    check_branch(record, branch)
    if said.verdict is not None and said.verdict not in VERDICTS:
        hint = f"choose {', '.join(VERDICTS)}, or none"
        raise UsageError(f"there is no verdict {said.verdict!r}", hint=hint)
    if not said.text and said.verdict is None:
        raise UsageError("the feedback says nothing", hint="give a text or a verdict")
    if said.at is not None:
        branch = owner(record, branch, _checked_step(record, branch, said.at))
    item = _to(replace(said, branch=branch))
    return replace(record, extras={**record.extras, KEY: [*_items(record.extras), item]})


def _checked_step(record: Record, branch: str, at: int) -> int:
    count = record.length_of(branch)
    if not 0 <= at <= count:
        have = plural(count, "answer")
        hint = f"choose a step from 0 to {count}"
        raise UsageError(f"there is no step {at}: {branch} has {have}", hint=hint)
    return at


def _to(said: Feedback) -> dict[str, Any]:
    data = {
        "at": said.at,
        "branch": said.branch,
        "author": said.author,
        "time": said.time,
        "verdict": said.verdict,
        "text": said.text,
    }
    return {key: value for key, value in data.items() if value is not None}


def on_branch(record: Record, name: str, remarks: Iterable[Feedback]) -> Iterator[Feedback]:
    """The remarks that concern a branch: its own, those on answers it shares, and general ones."""
    every = list(remarks)
    reach = lineage(record, name) if every else {}
    for said in every:
        shared = said.at is not None and said.at < reach.get(said.branch or name, 0)
        if shared or (said.at is None and said.branch in (None, name)):
            yield said


def matching(
    record: Record,
    *,
    at: int | None = None,
    branch: str | None = None,
    verdict: str | None = None,
    author: str | None = None,
) -> list[Feedback]:
    """The remarks that fit everything that is asked for; what is None is not asked.

    Args:
        record: The record.
        at: On this step.
        branch: Concerning this branch, also by an answer it shares.
        verdict: With this verdict; `none` for those without.
        author: By this author; empty for those that name none.

    Raises:
        UsageError: There is no such branch.
    """
    found = iter(read(record))
    if branch is not None:
        check_branch(record, branch)
        found = on_branch(record, branch, found)
    return [
        said
        for said in found
        if at in (None, said.at)
        and verdict in (None, said.verdict or "none")
        and author in (None, said.author or "")
    ]


def moved(extras: Mapping[str, Any], branch: str, to: str, since: int = 0) -> Mapping[str, Any]:
    """The extensions, remarks on steps of `branch` from `since` on now being about `to`.

    With `since` 0 those on the branch as a whole go along.
    """
    value = extras.get(KEY)
    if not isinstance(value, list):
        return extras
    items = [item | {"branch": to} if _concerns(item, branch, since) else item for item in value]
    return extras if items == value else {**extras, KEY: items}


def _concerns(item: Any, branch: str, since: int) -> bool:
    if not isinstance(item, dict) or item.get("branch") != branch:
        return False
    at = _from(item).at
    return not since if at is None else at >= since
