"""A verdict with what it is about, and whether it still holds after a change. Pure.

A verdict is about the answers of all branches and what is recorded of them, the world that the
record asks for, and the script with all that is in its folder, as what it reads there is not known
before it runs. It is not about who gave an answer, notes, or which branch is the active one. Where
the pointer stands is part of it only as far as what is recorded there may be wrong: after a rewind
by quizlog that is what a replay shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..files.regular_file import stamps
from ..record.model import Record
from ..replay.script.source import Source
from ..replay.world import world_of
from .beside import Mark, beside, marks_below
from .recorded import RecordedBranch, recorded_branch
from .verdict import Verdict, of_another_text


@dataclass(frozen=True)
class Evidence:
    """What a verdict is about, as it was read."""

    record: Record
    source: Source
    beside: Mapping[str, Mark] | None
    """What is in the script's folder but for it and records; None if that cannot be watched."""

    @classmethod
    def of(cls, path: Path, record: Record, source: Source) -> Evidence:
        """The evidence of the record at a path, with what is beside its script as it is now."""
        return cls(record, source, beside(source, path))

    def traces(self, path: Path) -> tuple[object, ...]:
        """What is not the same as before if any of it may have changed, found without reading.

        Args:
            path: The record.
        """
        marks = None if self.beside is None else marks_below(self.source.path.parent)
        return stamps([path, self.source.path]), marks


@dataclass(frozen=True)
class ProvenRecord:
    """A verdict and what it is about."""

    verdict: Verdict
    about: Evidence

    @property
    def branch(self) -> str:
        """The name of the branch that the verdict is of."""
        return self.verdict.branch or self.about.record.branch

    @property
    def is_kept(self) -> bool:
        """Whether all that it is about is watched, so that it may be shown again later."""
        return self.about.beside is not None

    @property
    def judged(self) -> dict[str, int]:
        """The number of answers of each branch that is judged if none differs, the active first."""
        record, source = self.about.record, self.about.source
        older = {part.branch for part in of_another_text(record, source.code_hash)}
        others = [name for name in record.branches if name not in (record.branch, *older)]
        return {name: record.length_of(name) for name in (record.branch, *others)}

    def change(self, now: Evidence, replayed: Record | None) -> str:
        """What has changed so that the verdict no longer holds, in words; empty if it holds.

        Args:
            now: The evidence as it is now.
            replayed: The record as a replay shows it at its pointer; None if that is not known yet,
                and what is recorded at the pointer shall not matter.
        """
        before = self.about
        if before.source != now.source:
            return "the script"
        if before.beside != now.beside:
            return "a file beside the script"
        return "" if self._is_of(now.record, replayed) else "the record"

    def _is_of(self, now: Record, replayed: Record | None) -> bool:
        """Whether the verdict is also one on a record as it is now."""
        before = self.about.record
        if (before.script, world_of(before)) != (now.script, world_of(now)):
            return False
        then, here = _branches(before), _branches(now)
        if then == here:
            return True
        is_healed = self.verdict.verdict == "diverges" and self.verdict.branch is None
        shown = replayed is None or _branches(replayed).get(now.branch) == here[now.branch]
        others = then.keys() - {before.branch, now.branch}
        same = _answers(then) == _answers(here) and all(then[n] == here[n] for n in others)
        return same and shown and not is_healed


def _branches(record: Record) -> dict[str, RecordedBranch]:
    return {name: recorded_branch(record, name) for name in record.all_names}


def _answers(branches: Mapping[str, RecordedBranch]) -> dict[str, object]:
    return {name: (each.inputs, each.trail) for name, each in branches.items()}
