"""The record: the whole state of a questionnaire, as defined by the trace format.

Frozen data only. `document` reads and writes it, `branches` changes it and `store` keeps it in a
file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, get_args

from .append_only_list import AppendOnlyList

Status = Literal["in_progress", "success", "error"]
STATUSES: tuple[Status, ...] = get_args(Status)

MAIN = "main"
"""The name of a record's first branch."""


@dataclass(frozen=True)
class LastError:
    """An exception the script raised (trace format: `last_error`)."""

    message: str
    """The exception's text."""
    line: int | None = None
    """Line number in the script, of the innermost frame that lies in the script."""
    score: float = 0.0
    """The partial score, 0..1."""
    place: str | None = None
    """`FILE:LINE` of the innermost frame, if it lies in another file of the script's folder."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys, kept on rewrite."""

    def to_dict(self) -> dict[str, Any]:
        """The exception as plain data for JSON, without unknown keys."""
        place = {} if self.place is None else {"place": self.place}
        return {"message": self.message, "line": self.line, "score": self.score} | place


@dataclass(frozen=True)
class Branch:
    """A branch of the record's answers."""

    parent: str | None
    """The branch it forked from; None for the first branch."""
    at: int
    """The step it forked at, which is the number of answers it shares with its parent."""
    inputs: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """The answers after the fork point."""
    trail: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """The fingerprints of the stops after the fork point, as in `Record.trail`."""
    status: Status | None = None
    """Its status after its last answer; None if unknown."""
    score: float | None = None
    """Its score after its last answer, if the script ended there."""
    created: str | None = None
    """When it was created, ISO 8601 in UTC."""
    note: str | None = None
    """The user's note on it."""
    deleted: str | None = None
    """When it was deleted (hidden, its answers are kept), ISO 8601 in UTC; None if it was not."""
    code_hash: str | None = None
    """Hash of the script it was last replayed with, if that differs from the record's."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys, kept on rewrite."""

    @property
    def left_at(self) -> int:
        """Index of the first answer that it does not share with its parent."""
        return 0 if self.parent is None else self.at

    @property
    def fingerprints_from(self) -> int:
        """Index of the first stop that it does not share with its parent."""
        return 0 if self.parent is None else self.at + 1


@dataclass(frozen=True)
class Record:
    """One `record.yaml`."""

    script: str
    """Path of the script, relative to the record."""
    seed: int
    """The seed of all randomness in the script."""
    inputs: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """The answers of the active branch, including those after the pointer."""
    pointer: int = 0
    """Index of the pending question; the answers before it are used."""
    status: Status = "in_progress"
    """Status at the pointer."""
    print: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """The printed strings up to the pointer."""
    last_error: LastError | None = None
    """The exception, if the status is `error`."""
    output: str | None = None
    """Path of a result file that is written at each change, relative to the record."""
    args: tuple[str, ...] = ()
    """The arguments the script runs with, after its name (extension: `args`)."""
    trail: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """A fingerprint of what was printed and asked at each stop of the active branch, the pending
    one included (see `replay.transcript`). It is shorter if another tool added answers."""
    code_hash: str | None = None
    """Hash of the script's source when the record was last written."""
    branch: str = MAIN
    """Name of the active branch."""
    branches: Mapping[str, Branch] = field(default_factory=dict)
    """All branches; the active one's entry lacks its answers, which are in `inputs`."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Extensions of the format and unknown keys, kept on rewrite."""

    def but(self, **changes: Any) -> Record:
        """This record with some fields changed, like `dataclasses.replace` but faster."""
        record, mine = object.__new__(Record), vars(self)
        vars(record).update({name: mine[name] for name in _FIELDS}, **changes)
        return record

    @property
    def used(self) -> AppendOnlyList[str]:
        """The answers before the pointer."""
        return self.inputs.upto(self.pointer)

    @property
    def score(self) -> float | None:
        """1 if the script finished, the partial score after an error, None while it asks."""
        if self.status == "success":
            return 1.0
        return self.last_error.score if self.status == "error" and self.last_error else None

    def path_of(self, name: str) -> AppendOnlyList[str]:
        """All answers of a branch, from the script's first question.

        Raises:
            KeyError: There is no such branch.
        """
        return self._along(name, self._paths, lambda branch: (branch.inputs, branch.left_at))

    def length_of(self, name: str) -> int:
        """The number of answers on `path_of`, without building it.

        Raises:
            KeyError: There is no such branch.
        """
        if name == self.branch:
            return len(self.inputs)
        branch = self.branches[name]
        return len(branch.inputs) + branch.left_at

    def trail_of(self, name: str) -> AppendOnlyList[str]:
        """The fingerprints of a branch's stops, from the first question on, as far as known.

        Raises:
            KeyError: There is no such branch.
        """
        return self._along(
            name, self._trails, lambda branch: (branch.trail, branch.fingerprints_from)
        )

    def _along(
        self,
        name: str,
        known: dict[str, AppendOnlyList[str]],
        own: Callable[[Branch], tuple[AppendOnlyList[str], int]],
    ) -> AppendOnlyList[str]:
        """The items that a branch shares with its ancestors, followed by its own.

        Args:
            name: The branch.
            known: Results for branches that have children; the result is added if this has some.
            own: Gives a branch's own items and the index of the first of them.
        """
        if name in known:
            return known[name]
        line: list[str] = []
        here: str | None = name
        while here is not None and here not in known:
            line.append(here)
            here = self.branches[here].parent
        found = [] if here is None else list(known[here])
        for each in reversed(line):
            more, start = own(self.branches[each])
            del found[start:]
            found += more if len(found) == start else ()
        whole = AppendOnlyList(found)
        if name in self._left:
            known[name] = whole
        return whole

    @cached_property
    def _left(self) -> frozenset[str | None]:
        """The branches that have children."""
        return frozenset(branch.parent for branch in self.branches.values())

    @cached_property
    def _paths(self) -> dict[str, AppendOnlyList[str]]:
        return {self.branch: self.inputs}

    @cached_property
    def _trails(self) -> dict[str, AppendOnlyList[str]]:
        return {self.branch: self.trail}

    @property
    def all_names(self) -> list[str]:
        """The names of all branches, deleted ones included, oldest first."""
        names = list(self.branches)
        return names if self.branch in self.branches else [self.branch, *names]

    @property
    def names(self) -> list[str]:
        """The names of the branches that are not deleted, oldest first."""
        return [name for name in self.all_names if not self.hides(name)]

    def hides(self, name: str) -> bool:
        """Whether a branch is deleted; the active one never is."""
        entry = self.branches.get(name)
        return entry is not None and entry.deleted is not None and name != self.branch

    def is_of_another_script(self, code_hash: str) -> bool:
        """Whether it was last written with a source of the script that has another hash."""
        return (self.code_hash or "").startswith("sha256:") and self.code_hash != code_hash


_FIELDS = tuple(each.name for each in fields(Record))


_FILE_HASHES = "file_hashes"


def with_file_hashes(extras: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    """The extras of a record with these digests; without the key if there are none."""
    others = {key: value for key, value in extras.items() if key != _FILE_HASHES}
    return {**others, _FILE_HASHES: dict(hashes)} if hashes else others


def edited_files(record: Record, now: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names of the files that are not as recorded, each with `edited`, `new` or `missing`.

    Args:
        record: The record; nothing is known about one without digests.
        now: The digests now.
    """
    then = record.extras.get(_FILE_HASHES)
    if not isinstance(then, dict):
        return
    for name in sorted({*then, *now}):
        if name not in now:
            yield str(name), "missing"
        elif name not in then:
            yield name, "new"
        elif then[name] != now[name]:
            yield name, "edited"
