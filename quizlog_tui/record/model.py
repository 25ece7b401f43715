"""The record: the whole state of a questionnaire, as the trace format defines it.

Frozen data only. How it is written is in `yaml_text`, what may be written in `validate`, how it
changes in `branches`, how it is kept in `store`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from .append_only_list import AppendOnlyList

Status = Literal["in_progress", "success", "error"]

MAIN = "main"
"""The name of the branch a record starts on."""


@dataclass(frozen=True)
class LastError:
    """An exception the script raised (trace format: `last_error`)."""

    message: str
    """The exception's text."""
    line: int | None = None
    """The script line, innermost frame of the script."""
    score: float = 0.0
    """The partial score, 0..1."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys, kept on rewrite."""


@dataclass(frozen=True)
class Branch:
    """A line of answers beside the active one."""

    parent: str | None
    """The branch it left; None for the first."""
    at: int
    """How many answers it shares with its parent."""
    inputs: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """The answers after the fork point."""
    trail: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """The marks of the stops after the fork point, as in `Record.trail`."""
    status: Status | None = None
    """How it stood at its last answer; None if that is not known."""
    score: float | None = None
    """Its score there, if it ended."""
    created: str | None = None
    """When, ISO 8601 in UTC."""
    note: str | None = None
    """A person's remark."""
    deleted: str | None = None
    """When it was hidden from lists, ISO 8601 in UTC; its answers stay. None if it is not."""
    code_hash: str | None = None
    """Hash of the script it was last shown by, where that is another than the record's."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys, kept on rewrite."""

    @property
    def left_at(self) -> int:
        """Index of the first answer that is its own."""
        return 0 if self.parent is None else self.at

    @property
    def marked_from(self) -> int:
        """Index of the first stop that is its own: the one its fork point leads to."""
        return 0 if self.parent is None else self.at + 1


@dataclass(frozen=True)
class Record:
    """One `record.yaml`."""

    script: str
    """Path of the script, relative to the record."""
    seed: int
    """The seed of all the script's randomness."""
    inputs: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """The answers of the active branch, also those after the pointer."""
    pointer: int = 0
    """Index of the next unanswered question; answers before it are used."""
    status: Status = "in_progress"
    """State at the pointer."""
    print: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """The printed strings up to the pointer."""
    last_error: LastError | None = None
    """The exception, if the status is `error`."""
    output: str | None = None
    """A result file written at each change, relative to the record."""
    trail: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """A mark of each stop the active branch was seen to make, the pending one included: what was
    printed and asked there (see `replay.trail`). Shorter where another tool gave the answers."""
    code_hash: str | None = None
    """Hash of the script the record was last written with."""
    branch: str = MAIN
    """Name of the active branch."""
    branches: Mapping[str, Branch] = field(default_factory=dict)
    """The other branches; of the active one only what `inputs` does not say."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """The format's extensions and unknown keys, kept on rewrite."""

    def but(self, **changes: Any) -> Record:
        """This record with other values of some fields; as `replace` would make it, and sooner."""
        record, mine = object.__new__(Record), vars(self)
        vars(record).update({name: mine[name] for name in _FIELDS}, **changes)
        return record

    @property
    def used(self) -> AppendOnlyList[str]:
        """The answers before the pointer."""
        return self.inputs.upto(self.pointer)

    @property
    def score(self) -> float | None:
        """1 when finished, the partial score of an error, None while asking."""
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
        """How many answers `path_of` has, without looking at them.

        Raises:
            KeyError: There is no such branch.
        """
        if name == self.branch:
            return len(self.inputs)
        branch = self.branches[name]
        return len(branch.inputs) + branch.left_at

    def trail_of(self, name: str) -> AppendOnlyList[str]:
        """The marks of a branch's stops, from the script's first question, as far as known.

        Raises:
            KeyError: There is no such branch.
        """
        return self._along(name, self._trails, lambda branch: (branch.trail, branch.marked_from))

    def _along(
        self,
        name: str,
        known: dict[str, AppendOnlyList[str]],
        own: Callable[[Branch], tuple[AppendOnlyList[str], int]],
    ) -> AppendOnlyList[str]:
        """What a branch shares with those above it, and what is its own.

        Args:
            name: The branch.
            known: All of that for branches that others left; takes what is found, if this is one.
            own: What a branch adds, and the place from which on.
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
        """The branches that others left."""
        return frozenset(branch.parent for branch in self.branches.values())

    @cached_property
    def _paths(self) -> dict[str, AppendOnlyList[str]]:
        return {self.branch: self.inputs}

    @cached_property
    def _trails(self) -> dict[str, AppendOnlyList[str]]:
        return {self.branch: self.trail}

    @property
    def all_names(self) -> list[str]:
        """The names of all branches, also the deleted ones, oldest first."""
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
        """Whether it was written with another text of the script than the one of this hash."""
        return (self.code_hash or "").startswith("sha256:") and self.code_hash != code_hash


_FIELDS = tuple(each.name for each in fields(Record))
