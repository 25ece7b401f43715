"""Lists what is fixed in the world of every script, how, and what cannot be fixed.

`process.spawn` fixes what must be set before an interpreter starts, `worker.fixed.fixed_world` the
rest inside the quiz process. A run in a world that differs in single conditions shows which of them
the script depends on; see `proof.trials`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from ..record.model import Record
from .script.interpreter import OWN

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
"""Classes of causes for which two runs differ."""

START = 1_735_689_600 * 10**9
"""Start of the clocks if the record has no `start_time`: 2025-01-01, in nanoseconds."""
_TICK = 10**6
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

UNAVAILABLE = {
    "addresses": "this system does not let memory be placed alike: orders by address may differ",
    "folder": "this system permits no overlay: the folder is copied, and lies elsewhere",
    "copy": "the folder is too big to copy: the script runs in the folder itself",
    "isolation": "NOT ISOLATED: scripts can read and change your files and reach your programs",
    "signals": "this kernel is too old to keep a script from ending your other programs",
    "witness": "another filter stands in the way here: a script can end its own checkpoints",
}
"""What a system may be unable to fix, and the effect."""

UNAVAILABLE_BY_FOLDER: dict[str, tuple[str, ...]] = {
    "overlay": (),
    "copy": ("folder",),
    "": ("folder", "copy"),
}
"""What is unavailable for each way to make a folder private that the worker reports."""
UNAVAILABLE_BY_ISOLATION: dict[str, tuple[str, ...]] = {
    "landlock": (),
    "landlock without signals": ("signals",),
    "landlock without witness": ("witness",),
    "landlock without signals or witness": ("signals", "witness"),
    "": ("isolation",),
}
"""What is unavailable for each kind of isolation that the worker reports."""

TAMPERED = "tampered"
"""Observation: the run's own account contradicts what was seen from outside."""
UNVERIFIABLE: dict[str, tuple[Cause, str]] = {
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
    "raw": ("environment", "it calls the system past Python: what it asks there is not seen"),
    "held": ("environment", "it locks files, or asks who does: others may do so at the same time"),
    "ports": ("network", "it has the system choose the number of a port"),
    "chance": ("unseeded-generator", "it reads the system's randomness past the seed"),
    "files": ("leftover-file", "it writes files outside its folder: refused, or they stay"),
}
"""Observations that make a run unverifiable: the likely cause of a difference, and a text."""
DECISIVE = (TAMPERED, "real-")
"""Prefixes of the names in `UNVERIFIABLE` that outweigh all others."""

CODE = "code"
"""Observation: an answer ran as code."""
REMARKABLE = {
    CODE: "an answer ran as code: it could change whatever the script shows from there on",
    "network": "it tried to use the network, which is off",
    "thread": "it runs a thread, and waits for it or leaves it to a library",
    "library-threads": "its libraries run threads beside each other: judged by what it shows when "
    "they take other turns",
    "updates": "it changes files that it read: it shows the same while they are as they were",
    "program": "it ran another program, whose clock and identity are real",
}
"""Observations that are reported, but do not make a run unverifiable."""

_SHARING = frozenset(
    ("files", "ports", "real-network", "processes", "threads", "network", TAMPERED, "raw", "system")
)
"""Observations of what could pass something on between copies of a process."""
_UNSEEN = frozenset(("isolation", "witness"))
"""What a system must not lack if it shall be seen what copies of a process share."""
SHARED = {
    "memory": "it mapped memory that copies would share",
    "network": "it opened a socket in the network that copies would share",
    "locks": "it locked files that copies would share",
    "held": "it locked files that copies would share",
    "given": "it changed a descriptor that copies would share",
}
"""What a process can reach that copies of it would share, as the guard's witness names it."""
SHARING_TAINTS = (*SHARED.values(), "it opened a database", "it used the network")
"""Reasons why a process must not be copied, and a copy made before may be told something."""

FIXED_CONDITIONS: dict[str, Cause] = {
    "hashes": "hash-order",
    "clock": "clock",
    "addresses": "address-order",
    "environment": "environment",
    "entropy": "unseeded-generator",
}
"""Conditions that are the same in every replay unless changed on purpose, and their causes."""
STARTS = "starts"
"""The condition that the script can start no thread and no process."""
OPEN_CONDITIONS: dict[str, Cause] = {
    "folder": "environment",
    "home": "environment",
    "leftovers": "leftover-file",
    "metadata": "file-metadata",
    "threads": "thread-order",
    "libraries": "clock",
    "system": "environment",
    STARTS: "process-order",
}
"""Conditions that differ between users, machines and days, and their causes."""


def describe_observation(name: str) -> str:
    """The text for an observation."""
    return UNVERIFIABLE[name][1] if name in UNVERIFIABLE else REMARKABLE[name]


def doubt(observed: Iterable[str]) -> str | None:
    """The first observation that makes a run unverifiable; None if there is none.

    The decisive ones come first, in the order of `UNVERIFIABLE`.
    """
    found = [name for name in observed if name in UNVERIFIABLE]
    decisive = [name for name in UNVERIFIABLE if name in found and name.startswith(DECISIVE)]
    return next(iter(decisive or found), None)


def may_share(observed: Iterable[str], unavailable: Iterable[str], tainted: str | None) -> bool:
    """Whether a run could have told copies of its process anything, or they it.

    Args:
        observed: The observations of the run.
        unavailable: What the system lacks.
        tainted: Why its process must not be copied.
    """
    unseen = not _UNSEEN.isdisjoint(unavailable)
    return unseen or not _SHARING.isdisjoint(observed) or tainted in SHARING_TAINTS


@dataclass(frozen=True)
class World:
    """Everything that a script can observe besides its answers."""

    seed: int
    """Seed of all randomness."""
    start: int = START
    """Start of its clocks, in nanoseconds since the epoch."""
    changed: frozenset[str] = frozenset()
    """Names of `FIXED_CONDITIONS` and `OPEN_CONDITIONS` that are changed on purpose."""
    at: str = ""
    """The path at which the script finds its folder, if that is changed."""
    hidden: tuple[str, ...] = ()
    """Files that the script does not find, if leftover files are changed."""
    args: tuple[str, ...] = ()
    """The arguments in `sys.argv` after the name of the script."""

    @property
    def hash_seed(self) -> int:
        """The value of PYTHONHASHSEED; only 32 bits are legal."""
        mixed = self.seed * 2_654_435_761 + 97  # never the same within 32 bits
        return (mixed if "hashes" in self.changed else self.seed) % 2**32

    @property
    def clock(self) -> tuple[int, int]:
        """Start and tick of the clocks."""
        if "clock" in self.changed:
            from .worker.fixed.other_machine import earlier  # every command loads this module

            return earlier(self.start // 10**9, self.seed) * 10**9 + self.start % 10**9, _TICK * 3
        return self.start, _TICK

    def but(self, changed: Iterable[str]) -> World:
        """The same world with other conditions changed."""
        return replace(self, changed=frozenset(changed))


_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:Z|([+-])(\d\d):(\d\d))?"
)


def start_of(text: Any) -> int:
    """A record's `start_time` in nanoseconds; the usual start if it is not a time since 1970.

    Parsed here because every command does so and `datetime` takes long to import.
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
    """Days since 1970-01-01 in the Gregorian calendar, with years that start in March."""
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    leap = year // 4 - year // 100 + year // 400
    return year * 365 + leap + (153 * month + 2) // 5 + day - 1 - 719468


def world_of(record: Record) -> World:
    """The world in which a record's script runs."""
    start = start_of(record.extras.get("start_time"))
    return World(record.seed, start, args=record.args)


def world_entries(
    unavailable: Iterable[str], observed: Iterable[str], python: str = OWN.version
) -> list[str]:
    """The value of a record's `world`: lines that describe the world in which it was made."""
    return list(_world_entries(tuple(unavailable), tuple(observed), python))


@lru_cache(64)  # asked for at each step
def _world_entries(
    unavailable: tuple[str, ...], observed: tuple[str, ...], python: str
) -> tuple[str, ...]:
    missing = set(unavailable)
    said = {
        "fixed": " ".join(name for name in FIXED if name not in missing),
        "missing": " ".join(sorted(missing)),
        "isolation": isolation(unavailable),
        "met": " ".join(name for name in observed if name in UNVERIFIABLE or name in REMARKABLE),
        "python": python,
    }
    return tuple(f"{key}: {text}" for key, text in said.items() if text)


def isolation(unavailable: Iterable[str]) -> str:
    """The isolation of a script from the machine in a few words; `none` if there is none."""
    found = tuple(name for name in unavailable if name in ("isolation", "signals", "witness"))
    words = next(kind for kind, lacking in UNAVAILABLE_BY_ISOLATION.items() if lacking == found)
    return words or "none"


def parse_world(world: Any) -> dict[str, str]:
    """The texts of a record's `world` by name; empty if the value has another form."""
    if not isinstance(world, list) or not all(isinstance(text, str) for text in world):
        return {}
    pairs = (text.partition(": ") for text in world)
    return {key: text for key, _, text in pairs}
