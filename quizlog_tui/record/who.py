"""Who gave each answer, through which door and when: the `who` extension of a record.

A list of `{at, branch, by, name, door, time}` with at most one entry an answer; `branch` is the one
that the answer belongs to. What is not known is left out. Entries of other tools are kept. Pure
functions; they never change an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

from ..errors import UsageError
from ..text import clipped, one_line
from .append_only_list import AppendOnlyList
from .lineage import agreements, lineage, owner
from .model import Record

By = Literal["person", "agent", "model", "import", "decision"]
"""The kinds of givers of answers."""
Door = Literal["shell", "screen", "http", "mcp", "openenv", "api", "import"]
"""The ways by which answers come."""
KEY = "who"
"""The record's key for the givers."""
UNKNOWN = "unknown"
"""Stands for a giver of whom nothing is recorded."""
MOST_NAME = 80
"""Maximum number of characters of a name that a client claims."""
_MOST_LISTED = 12
"""Maximum number of givers that an error lists."""


class Giver(NamedTuple):
    """Who gives answers."""

    door: Door
    """The way by which they come."""
    by: By | None = None
    """What kind of giver it is; None if that is not known, as in a shell."""
    name: str | None = None
    """Its name, or the names of models that decided; None if not known."""


PROGRAM = Giver("api")
"""A program that answers through the Python API and says nothing of itself."""


class Attribution(NamedTuple):
    """How one answer was given, as the record tells it; None is not known."""

    by: str | None = None
    """The kind of giver, one of `By` or another tool's word."""
    name: str | None = None
    """The giver's name."""
    door: str | None = None
    """The way by which it came, one of `Door` or another tool's word."""
    time: str | None = None
    """When, ISO 8601 in UTC."""

    def to_dict(self) -> dict[str, str]:
        """What is known, as plain data."""
        return {key: value for key, value in self._asdict().items() if value is not None}


_RESERVED = {*get_args(By), *get_args(Door), UNKNOWN}
"""The words of kinds and doors, which no name may pass for."""


def giver_text(given: Attribution) -> str:
    """Who gave an answer, in a word or a name."""
    return _name_of(given) or given.by or given.door or UNKNOWN


def _name_of(given: Attribution) -> str | None:
    """The name; if it is the word of a kind or door, behind the giver's own kind."""
    if given.name is not None and given.name.strip().casefold() in _RESERVED:
        return f'{given.by or "somebody"} "{given.name}"'
    return given.name


def known_giver(given: Attribution | None) -> str:
    """The giver's name or kind on one line; empty if neither is known, as in a shell."""
    return one_line(_name_of(given) or given.by or "") if given else ""


def giver_and_door(given: Attribution) -> list[str]:
    """Who gave an answer, and the door if that says more."""
    found = giver_text(given)
    return [found, f"by {given.door}"] if given.door not in (None, found) else [found]


def claimed_name(text: str) -> str | None:
    """A name as a client claims it, harmless and of limited length; None if it is blank."""
    return clipped(one_line(text.strip()), MOST_NAME) or None


def on_branch(record: Record, name: str, since: int = 0) -> dict[int, Attribution]:
    """How the answers of a branch were given, shared ones included, by step; others are left out.

    Args:
        record: The record.
        name: The branch.
        since: Index of the first of its `entries` to read.

    Raises:
        KeyError: There is no such branch.
    """
    items = entries(record)[since:]
    reach = lineage(record, name) if items else {}
    return {at: given for branch, at, given in _entries(items) if at < reach.get(branch, 0)}


def every_giver(record: Record, name: str) -> list[Attribution]:
    """How each answer of a branch was given; an empty attribution where nothing is known."""
    known = on_branch(record, name)
    return [known.get(at, Attribution()) for at in range(record.length_of(name))]


def giver_words(given: Attribution) -> list[str]:
    """What a giver is chosen by: kind, name and door, each on one line; `unknown` without any."""
    words = (given.by, _name_of(given), given.door)
    return [one_line(word) for word in words if word] or [UNKNOWN]


def is_by(given: Attribution, wanted: str) -> bool:
    """Whether a giver has this kind, name or door; upper and lower case are the same."""
    return wanted.casefold() in map(str.casefold, giver_words(given))


def check_giver(wanted: str, givers: Iterable[Attribution]) -> None:
    """Check that one of some givers has this kind, name or door.

    Raises:
        UsageError: None has; it lists those there are.
    """
    words: set[str] = set()
    for given in givers:
        if is_by(given, wanted):
            return
        words.update(giver_words(given))
    listed = [f'"{word}"' for word in sorted(words)[:_MOST_LISTED]]
    listed += ["…"] if len(words) > _MOST_LISTED else []
    hint = f"answers are by: {', '.join(listed)}" if listed else "there are no answers yet"
    raise UsageError(f"no answer is by {wanted!r}", hint=hint)


def entries(record: Record) -> AppendOnlyList[Any]:
    """The record's entries as they were read."""
    value = record.extras.get(KEY) or ()
    return value if isinstance(value, AppendOnlyList) else AppendOnlyList(value)


def _entries(items: Iterable[Any]) -> Iterator[tuple[str, int, Attribution]]:
    """The branch, step and giver of each entry that has a branch and a step."""
    for item in items:
        place = (item.get("branch"), item.get("at")) if isinstance(item, Mapping) else (None, None)
        branch, at = place
        if isinstance(branch, str) and isinstance(at, int) and not isinstance(at, bool):
            known = {key: item.get(key) for key in ("by", "name", "door", "time")}
            yield branch, at, Attribution(**{k: v for k, v in known.items() if isinstance(v, str)})


def added(record: Record, branch: str, at: int, given: Attribution) -> Record:
    """The record with how answer `at`, which belongs to a branch, was given."""
    items = entries(record).then({"at": at, "branch": branch, **given.to_dict()})
    return record.but(extras={**record.extras, KEY: items})


def restore_givers(record: Record, left: Record) -> Record:
    """The record with the givers that `left` knows of answers which both have.

    Args:
        record: An earlier state, to which answers of `left` were added.
        left: The state that is left.
    """
    before = set(_entries(entries(record)))
    lost: dict[str, dict[int, Attribution]] = {}
    for branch, at, given in _entries(entries(left)):
        if (branch, at, given) not in before and branch in left.all_names:
            lost.setdefault(branch, {})[at] = given
    known = {(branch, at) for branch, at, _ in before}
    for branch, answers in lost.items():
        shared = agreements(record, left.path_of(branch))
        best = max(shared, key=shared.__getitem__)
        for at, given in answers.items():
            place = (owner(record, best, at), at) if at < shared[best] else None
            if place is not None and place not in known:
                known.add(place)
                record = added(record, *place, given)
    return record
