"""The fixed world in which every script runs: what is fixed, how, and what cannot be.

The one list of it. What is fixed at the start of an interpreter happens in `spawn`, the rest inside
the quiz process, in `worker.fixed.world`. A run in a world that differs in single conditions shows
which of them its script depends on; see `proof.causes`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from ..record.model import Record

Cause = Literal[
    "unseeded-generator",
    "clock",
    "hash-order",
    "address-order",
    "leftover-file",
    "environment",
    "thread-order",
    "process-order",
    "network",
    "file-metadata",
    "code-changed",
    "unknown",
]
"""Classes of reasons why two runs part."""

START = 1_735_689_600 * 10**9
"""Where the clocks start if the record has no `start_time`: 2025-01-01, in nanoseconds."""
TICK = 10**6
"""Nanoseconds by which each reading advances the clocks."""

FIXED = {
    "hashes": "PYTHONHASHSEED from the seed",
    "addresses": "the system places memory alike in every run (personality)",
    "generators": "random, numpy and torch seeded; os.urandom, secrets, uuid, unseeded ones too",
    "clocks": "time, datetime and counters start at start_time, a millisecond a reading",
    "environment": "known variables, UTC, C.UTF-8, one thread for linear algebra, no terminal",
    "identity": "process number, host name, user name",
    "folder": "a private copy, listed in order; temporary files beside it",
    "network": "off, except within the script's own processes",
}
"""What is fixed, and how."""

LACKS = {
    "addresses": "this system does not let memory be placed alike: orders by address may differ",
    "folder": "this system permits no overlay: the folder is copied, and lies elsewhere",
    "copy": "the folder is too big to copy: the script runs in the folder itself",
    "isolation": "NOT ISOLATED: scripts can read and change your files and reach your programs",
    "signals": "this kernel is too old to keep a script from ending your other programs",
    "witness": "another filter stands in the way here: a script can end its own checkpoints",
}
"""What a system may lack, and what that means."""

FOLDER_LACKS: dict[str, tuple[str, ...]] = {
    "overlay": (),
    "copy": ("folder",),
    "": ("folder", "copy"),
}
"""What is lacking under each way to make a folder private that the worker reports."""
ISOLATION_LACKS: dict[str, tuple[str, ...]] = {
    "landlock": (),
    "landlock without signals": ("signals",),
    "landlock without witness": ("witness",),
    "landlock without signals or witness": ("signals", "witness"),
    "": ("isolation",),
}
"""What is lacking under each kind of isolation that the worker reports."""

TAMPERED = "tampered"
"""What a run met whose own account is belied by what was seen from outside."""
MET: dict[str, tuple[Cause, str]] = {
    TAMPERED: ("unknown", "tampered: what it says of itself is not what was seen from outside"),
    "clock": ("clock", "it asks the system itself for the time, past the fixed clock"),
    "threads": (
        "thread-order",
        "it runs threads beside itself or each other: the order is the system's",
    ),
    "processes": (
        "process-order",
        "it runs programs beside itself or each other: the order is the system's",
    ),
    "real-clock": ("clock", "it asks for the real clock"),
    "real-network": ("network", "it asks for the real network"),
    "real-environment": ("environment", "it asks for the real environment"),
    "real-files": ("leftover-file", "it asks for files outside its folder"),
    "system": ("environment", "it reads the system's state (/proc, /sys, load, free space)"),
    "ports": ("network", "it has the system choose the number of a port"),
    "chance": ("unseeded-generator", "it reads the system's randomness past the seed"),
    "files": ("leftover-file", "it writes files outside its folder: refused, or they stay"),
}
"""What a run may meet that makes it impossible to vouch for, and the cause it would be."""
DECISIVE = (TAMPERED, "real-")
"""How those names of `MET` begin that outweigh the others: tampering, what a script asks for."""

CODE = "code"
"""What a run met in which an answer ran as code."""
NOTED = {
    CODE: "an answer ran as code: it could change whatever the script shows from there on",
    "network": "it tried to use the network, which is off",
    "thread": "it runs a thread, and waits for it or leaves it to a library",
    "updates": "it changes files that it read: it shows the same while they are as they were",
    "program": "it ran another program, whose clock and identity are real",
}
"""What a run may meet that is worth saying."""

HELD: dict[str, Cause] = {
    "hashes": "hash-order",
    "clock": "clock",
    "addresses": "address-order",
    "environment": "environment",
    "entropy": "unseeded-generator",
}
"""Conditions that can be changed but are the same in every replay, and the cause each one is."""
OPEN: dict[str, Cause] = {
    "folder": "environment",
    "home": "environment",
    "leftovers": "leftover-file",
    "metadata": "file-metadata",
    "threads": "thread-order",
    "libraries": "clock",
    "system": "environment",
    "starts": "process-order",
}
"""Conditions that differ between users, machines and days, and the cause each one is."""


def described_met(name: str) -> str:
    """What a name means that a run met, in words."""
    return MET[name][1] if name in MET else NOTED[name]


def doubt(observed: Iterable[str]) -> str | None:
    """What of all that was met makes it impossible to vouch for a run, by its name in `MET`.

    The decisive ones come first, in the order of `MET`. None if nothing does.
    """
    found = [name for name in observed if name in MET]
    decisive = [name for name in MET if name in found and name.startswith(DECISIVE)]
    return next(iter(decisive or found), None)


@dataclass(frozen=True)
class World:
    """What a script finds beside its answers."""

    seed: int
    """Of all its randomness."""
    start: int = START
    """Where its clocks start, nanoseconds since the epoch."""
    changed: frozenset[str] = frozenset()
    """Names of conditions (`HELD`, `OPEN`) that are other than usual."""
    at: str = ""
    """The path at which it finds its folder, if that is changed."""
    hidden: tuple[str, ...] = ()
    """Files it does not find, if left over files are changed."""
    args: tuple[str, ...] = ()
    """The arguments after its name, in `sys.argv`."""

    @property
    def hash_seed(self) -> int:
        """The value of PYTHONHASHSEED; only 32 bits are legal."""
        return (self.seed + 7919 * ("hashes" in self.changed)) % 2**32

    @property
    def clock(self) -> tuple[int, int]:
        """Start and tick of the clocks."""
        if "clock" in self.changed:
            return self.start + 123_456_789 * 10**9, TICK * 3
        return self.start, TICK

    def but(self, changed: Iterable[str]) -> World:
        """The same world with other conditions changed."""
        return replace(self, changed=frozenset(changed))


_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:Z|([+-])(\d\d):(\d\d))?"
)


def start_of(text: Any) -> int:
    """A record's `start_time` in nanoseconds; the usual start if it is none from 1970 on.

    Read by hand, as every call of the command line does so and `datetime` takes long to import.
    """
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return START
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    shift = int(match[9] or 0) * 60 + int(match[10] or 0)
    minutes = hour * 60 + minute - (-shift if match[8] == "-" else shift)
    if year < 1970 or not (1 <= month <= 12 and 1 <= day <= 31):
        return START
    seconds = _days(year, month, day) * 86400 + minutes * 60 + second
    nano = int((match[7] or "0").ljust(9, "0"))
    return seconds * 10**9 + nano if seconds >= 0 else START


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar, whose years are taken to start in March."""
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    leap = year // 4 - year // 100 + year // 400
    return year * 365 + leap + (153 * month + 2) // 5 + day - 1 - 719468


def world_of(record: Record) -> World:
    """The world in which a record's script runs."""
    start = start_of(record.extras.get("start_time"))
    return World(record.seed, start, args=record.args)


def described(unavailable: Iterable[str], observed: Iterable[str]) -> list[str]:
    """What a record says of the world it was made in: its `world`, a list of flat texts."""
    return list(_described(tuple(unavailable), tuple(observed)))


@lru_cache(64)  # asked for at each step
def _described(unavailable: tuple[str, ...], observed: tuple[str, ...]) -> tuple[str, ...]:
    missing = set(unavailable)
    said = {
        "fixed": " ".join(name for name in FIXED if name not in missing),
        "missing": " ".join(sorted(missing)),
        "isolation": isolation(unavailable),
        "met": " ".join(name for name in observed if name in MET or name in NOTED),
        "python": ".".join(map(str, sys.version_info[:3])),
    }
    return tuple(f"{key}: {text}" for key, text in said.items() if text)


def isolation(unavailable: Iterable[str]) -> str:
    """What keeps a script from the machine, in a few words; `none` if nothing does."""
    found = tuple(name for name in unavailable if name in ("isolation", "signals", "witness"))
    words = next(kind for kind, lacking in ISOLATION_LACKS.items() if lacking == found)
    return words or "none"


def describe_world(world: Any) -> dict[str, str]:
    """The texts of a record's `world` by their names; empty if it is none of ours."""
    if not isinstance(world, list) or not all(isinstance(text, str) for text in world):
        return {}
    pairs = (text.partition(": ") for text in world)
    return {key: text for key, _, text in pairs}
