"""The verdict on a record: data, and sentences for people. Pure.

Does not decide which replays are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

from ..record.model import Record
from ..replay.world import (
    DECISIVE,
    FIXED,
    REMARKABLE,
    UNAVAILABLE,
    UNVERIFIABLE,
    Cause,
    describe_observation,
    doubt,
    isolation,
)
from ..text import first_lines, told_once
from .diverge import NOTHING, What
from .recorded import RecordedBranch


class NotJudged(NamedTuple):
    """A part of a record that could not be compared."""

    branch: str | None
    """The branch; None for the active one."""
    reason: str
    """Why not, in words."""

    @property
    def place(self) -> str:
        """The part in words; empty for the active branch."""
        return f"branch {self.branch}" if self.branch else ""

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.branch else self.reason


@dataclass(frozen=True)
class Verdict:
    """The result of verifying a record."""

    verdict: Literal["reproducible", "fragile", "diverges", "unverifiable"]
    """`diverges`: a replay in the record's own world is not what the record shows. `fragile`: it
    is, but a replay in another world would not be."""
    step: int | None = None
    """The first step that differs."""
    what: What | None = None
    """What differs there."""
    recorded: Any = None
    """What the record has there; where it is fragile, what a replay here shows."""
    replayed: Any = None
    """What a replay shows there; where it is fragile, what one in another world shows."""
    cause: Cause | None = None
    """The class of the cause."""
    reason: str | None = None
    """The reason in words."""
    relies_on: tuple[Cause, ...] = ()
    """Causes of differences that only the fixed world prevents."""
    observed: tuple[str, ...] = ()
    """What was met that the world does not hold; names of `UNVERIFIABLE` and `REMARKABLE`."""
    unavailable: tuple[str, ...] = ()
    """What this system lacks; names of `UNAVAILABLE`."""
    fits: str | None = None
    """How far a record fits a script that was edited since: "all" of it shows the same; "amended"
    if something differs, but each answer still belongs to its question; "to step K", where the
    question differs. None if the script is unchanged."""

    branch: str | None = None
    """The branch of the verdict; None for the active one."""
    not_judged: tuple[NotJudged, ...] = ()
    """Parts of the record that could not be compared."""
    branches: int = 1
    """Number of branches that were judged."""
    alone: int = 1
    """Number of these that were replayed in processes of their own, from the start."""
    no_text: str = NOTHING
    """What it means if `recorded` is None, in words; not part of its data."""

    @property
    def differs(self) -> bool:
        """Whether some replay is not what the record shows."""
        return self.verdict in _NAMES

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data = asdict(self)
        del data["no_text"]
        relies_on, observed, unavailable = (
            data.pop(name) for name in ("relies_on", "observed", "unavailable")
        )
        world = {
            "fixed": [name for name in FIXED if name not in unavailable],
            "missing": {name: UNAVAILABLE[name] for name in unavailable},
            "isolation": isolation(unavailable),
            "met": {name: describe_observation(name) for name in observed},
            "relies_on": list(relies_on),
        }
        return data | {"not_judged": [str(part) for part in self.not_judged], "world": world}

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        if self.verdict == "reproducible":
            edited = ", though the script was edited" if self.fits else ""
            parts = self._parts_not_judged
            first = "".join(f"; {part}" for part in parts[:1])
            more = f"; {len(self.not_judged)} not judged in all" if parts[1:] else ""
            return f"reproducible{edited}{first}{more}"
        if self.verdict == "unverifiable":
            where = f"branch {self.branch}: " if self.branch else ""
            return f"cannot be verified: {where}{self.reason}"
        where = f" of branch {self.branch}" if self.branch else ""
        place = f"at step {self.step}{where} ({self.what}, {self.cause})"
        holds = "holds here, but " if self.verdict == "fragile" else ""
        return f"{self.verdict} {place}: {holds}{self.reason}"

    @property
    def remarks(self) -> Iterator[str]:
        """What else is worth saying."""
        if self.differs:
            here, there = _NAMES[self.verdict]
            yield f"{here}: {_shown(self.recorded, self.no_text)}"
            yield f"{there}: {_shown(self.replayed, NOTHING)}"
        if self.fits not in (None, "all"):
            yield f"fits the edited script: {self.fits}"
        if self.relies_on:
            yield f"held by the fixed world: {', '.join(self.relies_on)}"
        if self.branches > 1:
            yield f"replayed alone: {_some_of(self.alone, self.branches)}"
        shown = 1 if self.verdict == "reproducible" else 0  # the first, by the headline
        yield from (f"not judged: {part}" for part in first_lines(self._parts_not_judged[shown:]))
        for name in self.observed:
            if describe_observation(name) != self.reason:
                yield f"note: {describe_observation(name)}"
        for name in self.unavailable:
            yield f"missing here: {UNAVAILABLE[name]}"

    @property
    def _parts_not_judged(self) -> list[str]:
        """What could not be compared, like reasons once."""
        found = told_once(((part.place, part.reason) for part in self.not_judged), "branch")
        return [f"{place}: {reason}" if place else reason for place, reason in found]


_NAMES = {"diverges": ("recorded", "replayed"), "fragile": ("here", "elsewhere")}
"""Verdicts that there is a difference, and what its two sides are called."""


def combine_verdicts(verdicts: Sequence[Verdict], not_judged: Iterable[NotJudged] = ()) -> Verdict:
    """The verdict on a record: the gravest one on its branches.

    Args:
        verdicts: The verdicts on the branches, the active one first.
        not_judged: Further parts that could not be compared.
    """
    rank = ("diverges", "fragile", "unverifiable", "reproducible")
    gravest = min(verdicts, key=lambda one: rank.index(one.verdict))

    def all_of(name: str) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(each for one in verdicts for each in getattr(one, name)))

    return replace(
        gravest,
        relies_on=all_of("relies_on"),
        observed=all_of("observed"),
        unavailable=all_of("unavailable"),
        not_judged=(*all_of("not_judged"), *not_judged),
        branches=len(verdicts),
        alone=sum(one.alone for one in verdicts),
    )


def _some_of(alone: int, branches: int) -> str:
    if alone == branches:
        return f"all {branches} branches"
    return f"{alone} of {branches} branches (--thorough: all)"


def _shown(value: Any, no_text: str) -> str:
    return no_text if value is None else str(value)


def noted(observed: Iterable[str]) -> tuple[str, ...]:
    """The observations of runs that a verdict names."""
    return tuple(name for name in observed if name in UNVERIFIABLE or name in REMARKABLE)


def apply_doubt(verdict: Verdict) -> Verdict:
    """The verdict, or `unverifiable` if an observation makes it unreliable."""
    name = doubt(verdict.observed)
    if name is None or (verdict.differs and not name.startswith(DECISIVE)):
        return verdict
    cause, reason = UNVERIFIABLE[name]
    return replace(verdict, verdict="unverifiable", cause=cause, reason=reason)


def bounded(verdict: Verdict, known: RecordedBranch, branch: str | None) -> Verdict:
    """Limit a verdict to the recorded parts: answers without recorded data prove nothing.

    Args:
        verdict: The verdict on a branch.
        known: What is recorded of it.
        branch: Its name; None for the active one.
    """
    if verdict.verdict != "reproducible" or known.missing is None:
        return verdict
    if branch is not None:
        return replace(verdict, not_judged=(NotJudged(branch, known.missing),))
    if known.shows_nothing and (known.inputs or known.status):
        return replace(verdict, verdict="unverifiable", reason=known.missing)
    return replace(verdict, not_judged=(NotJudged(None, known.missing),))


def of_another_text(record: Record, code_hash: str) -> list[NotJudged]:
    """The branches of another text of the script, which is not there to judge them by.

    Args:
        record: The record.
        code_hash: The hash of the script's present text.
    """
    others = {name: entry for name, entry in record.branches.items() if name != record.branch}
    return [
        NotJudged(name, "recorded with another text of the script")
        for name, entry in others.items()
        if entry.code_hash not in (None, code_hash)
    ]
