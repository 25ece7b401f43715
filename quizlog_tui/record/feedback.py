"""Remarks about a record's steps, and the expressions it watches: its `feedback` extension.

A list of `{at, branch, author, time, verdict, text}`, and of `{watch, author, time}`, which are no
remarks. Entries of other tools are read as far as possible and kept unchanged. Pure functions; they
never change an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import UsageError, did_you_mean
from ..text import plural
from .lineage import check_branch, lineage, owner
from .model import Record

VERDICTS = ("right", "wrong", "unsure")
"""The verdicts that can be given. Other verdicts are read and kept, but not written."""
KEY = "feedback"
"""The record's key for the remarks."""


@dataclass(frozen=True)
class Feedback:
    """One remark."""

    at: int | None = None
    """Index of the answer it is about; None for the branch or record as a whole."""
    branch: str | None = None
    """The branch that the answer belongs to; None for all."""
    author: str | None = None
    """Who wrote it."""
    time: str | None = None
    """When it was written, ISO 8601 in UTC."""
    verdict: str | None = None
    """One of `VERDICTS`, or another tool's verdict; None for no verdict."""
    text: str = ""
    """The remark's text."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys, kept on rewrite."""


def read(record: Record) -> list[Feedback]:
    """All remarks, in the record's order."""
    return read_from(record.extras)


def read_from(extras: Mapping[str, Any]) -> list[Feedback]:
    """The remarks among the extensions of a record, in their order."""
    return [_from(item) for item in _items(extras) if _watch(item) is None]


def _items(extras: Mapping[str, Any]) -> list[Any]:
    value = extras.get(KEY)
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _watch(item: Any) -> str | None:
    """The expression that an entry watches; None for a remark."""
    if not isinstance(item, Mapping) or not {"text", "verdict"}.isdisjoint(item):
        return None
    text = item.get("watch")
    return text if isinstance(text, str) else None


def watches(record: Record) -> list[str]:
    """The expressions that are watched, each once, in the record's order."""
    found = map(_watch, _items(record.extras))
    return list(dict.fromkeys(text for text in found if text is not None))


def with_watch(record: Record, expression: str, author: str | None, time: str) -> Record:
    """The record with one more expression that is watched; as it is if it has that already."""
    if expression in watches(record):
        return record
    item = {"watch": expression, **({"author": author} if author else {}), "time": time}
    return _with_items(record, [*_items(record.extras), item])


def without_watch(record: Record, expression: str) -> Record:
    """The record without an expression that is watched.

    Raises:
        UsageError: It is not watched.
    """
    known = watches(record)
    if expression not in known:
        hint = did_you_mean(expression, known) or "without one, the command lists them"
        raise UsageError(f"{expression!r} is not watched", hint=hint)
    kept = [item for item in _items(record.extras) if _watch(item) != expression]
    return _with_items(record, kept)


def _with_items(record: Record, items: list[Any]) -> Record:
    """The record with other entries; without any, as if there had never been one."""
    extras = {key: value for key, value in record.extras.items() if key != KEY or items}
    return replace(record, extras=extras | ({KEY: items} if items else {}))


def _from(item: Any) -> Feedback:
    """The remark for any entry; a value of the wrong type goes into `extras`."""
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


def added(record: Record, remark: Feedback) -> Record:
    """The record with a remark added, assigned to the branch that the answer belongs to.

    Raises:
        UsageError: There is no such branch or step, the verdict is unknown, or the remark is empty.
    """
    branch = remark.branch if remark.branch is not None else record.branch
    check_branch(record, branch)
    if remark.verdict is not None and remark.verdict not in VERDICTS:
        choice = f"choose {', '.join(VERDICTS)}, or none"
        hint = did_you_mean(remark.verdict, VERDICTS) or choice
        raise UsageError(f"there is no verdict {remark.verdict!r}", hint=hint)
    if not remark.text and remark.verdict is None:
        raise UsageError("the feedback says nothing", hint="give a text or a verdict")
    if remark.at is not None:
        branch = owner(record, branch, _checked_step(record, branch, remark.at))
    return _with_items(record, [*_items(record.extras), _to(replace(remark, branch=branch))])


def _checked_step(record: Record, branch: str, at: int) -> int:
    count = record.length_of(branch)
    if not 0 <= at <= count:
        have = plural(count, "answer")
        hint = f"choose a step from 0 to {count}"
        raise UsageError(f"there is no step {at}: {branch} has {have}", hint=hint)
    return at


def _to(remark: Feedback) -> dict[str, Any]:
    data = {
        "at": remark.at,
        "branch": remark.branch,
        "author": remark.author,
        "time": remark.time,
        "verdict": remark.verdict,
        "text": remark.text,
    }
    return {key: value for key, value in data.items() if value is not None}


def on_branch(record: Record, name: str, remarks: Iterable[Feedback]) -> Iterator[Feedback]:
    """The remarks that apply to a branch: on its own or shared answers, and general ones."""
    every = list(remarks)
    reach = lineage(record, name) if every else {}
    for remark in every:
        shared = remark.at is not None and remark.at < reach.get(remark.branch or name, 0)
        if shared or (remark.at is None and remark.branch in (None, name)):
            yield remark


def matching(
    record: Record,
    *,
    at: int | None = None,
    branch: str | None = None,
    verdict: str | None = None,
    author: str | None = None,
) -> list[Feedback]:
    """The remarks that meet every condition that is not None.

    Args:
        record: The record.
        at: The step the remark is about.
        branch: The branch it applies to, also through a shared answer.
        verdict: Its verdict; `none` for remarks without one.
        author: Its author; empty for remarks without one.

    Raises:
        UsageError: There is no such branch.
    """
    found = iter(read(record))
    if branch is not None:
        check_branch(record, branch)
        found = on_branch(record, branch, found)
    return [
        remark
        for remark in found
        if at in (None, remark.at)
        and verdict in (None, remark.verdict or "none")
        and author in (None, remark.author or "")
    ]
