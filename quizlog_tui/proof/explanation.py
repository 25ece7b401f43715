"""Explains why a replay differs: verdict, cause and reason. Pure.

Does not decide which replays are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..replay.transcript import Transcript
from ..replay.world import (
    DECISIVE,
    FIXED_CONDITIONS,
    OPEN_CONDITIONS,
    REMARKABLE,
    STARTS,
    UNAVAILABLE,
    UNVERIFIABLE,
    Cause,
    doubt,
)
from .diverge import Difference
from .verdict import Verdict

_IN_WORDS = {
    "hashes": "the order of hashes",
    "clock": "the clock",
    "addresses": "the order of addresses in memory",
    "environment": "environment variables, time zone or user",
    "entropy": "randomness that has no seed of its own",
    "folder": "where the folder lies",
    "home": "the user (home folder, numbers), the machine or where Python lies",
    "leftovers": "what else lies in the folder",
    "metadata": "the times or numbers of files",
    "threads": "the order in which threads take turns",
    "libraries": "the real time, for which a library of it asks the system itself",
    "system": "the system's state (/proc, /sys)",
    STARTS: "threads or programs that it starts unobserved",
}


def divergence(found: Difference, cause: Cause, reason: str) -> Verdict:
    """The verdict that a replay differs."""
    return Verdict("diverges", found.step, found.what, found.a, found.b, cause, reason)


def fragile(verdict: Verdict) -> Verdict:
    """The verdict that it is another world in which a replay differs."""
    return replace(verdict, verdict="fragile")


def explain_difference(
    plain: Transcript, found: Difference, guilty: Sequence[str], moved: bool
) -> Verdict:
    """The verdict on two runs that differ.

    Args:
        plain: The run in the record's own world.
        found: The difference.
        guilty: The conditions whose change makes the difference.
        moved: Whether addresses in memory, which any allocation moves, decide there.
    """
    if not guilty:
        return divergence(found, *explain_noise(plain))
    if "home" in guilty:  # programs are another machine's only where none can be started
        guilty = [name for name in guilty if name != STARTS]
    if moved:
        words = f"it depends on addresses in memory, and they on {describe_conditions(guilty)}"
        return fragile(divergence(found, "address-order", words))
    verdict = divergence(found, cause_of(guilty), f"it depends on {describe_conditions(guilty)}")
    # The start was not observed: it was hidden on purpose, or made by a library in C.
    return replace(verdict, verdict="unverifiable") if STARTS in guilty else fragile(verdict)


def cause_of(guilty: Sequence[str]) -> Cause:
    """The cause for the first open condition; for the first condition if none is open."""
    return next(
        (OPEN_CONDITIONS[name] for name in guilty if name in OPEN_CONDITIONS),
        (FIXED_CONDITIONS | OPEN_CONDITIONS)[guilty[0]],
    )


def describe_conditions(guilty: Iterable[str]) -> str:
    """Describe conditions."""
    return ", together with ".join(_IN_WORDS[name] for name in guilty)


def explain_noise(plain: Transcript) -> tuple[Cause, str]:
    """Why two runs in the same world differ: only an observation can be the cause."""
    known = observed_cause(plain)
    if known is None and "addresses" in plain.unavailable:
        return "address-order", UNAVAILABLE["addresses"]
    return known or ("unknown", "two replays in one and the same world differ")


def observed_cause(plain: Transcript) -> tuple[Cause, str] | None:
    """The observation that may cause a difference which no condition explains."""
    turns: dict[str, Cause] = {
        "program": "process-order",
        "thread": "thread-order",
        "library-threads": "thread-order",
    }
    causes = UNVERIFIABLE | {name: (cause, REMARKABLE[name]) for name, cause in turns.items()}
    return next((causes[name] for name in causes if name in plain.observed), None)


def apply_doubt(verdict: Verdict) -> Verdict:
    """The verdict, or `unverifiable` if an observation makes it unreliable."""
    name = doubt(verdict.observed)
    if name is None or (verdict.differs and not name.startswith(DECISIVE)):
        return verdict
    cause, reason = UNVERIFIABLE[name]
    return replace(verdict, verdict="unverifiable", cause=cause, reason=reason)
