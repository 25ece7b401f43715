"""Everything a box and its runs are told by the parent. Plain data, carried as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["bwrap", "landlock", "rlimits"]
"""The kinds of isolation, best first."""


@dataclass(frozen=True)
class BoxSetup:
    """How a box is to work."""

    level: Level
    preload: list[str]
    """Modules to import before any run; missing ones are left out."""
    paths: list[str]
    """Folders to add to the module search path."""
    readable: list[str]
    """What Landlock leaves readable."""
    drop_to: int | None
    """The user and group to become, when started by root."""
    mount_proc: bool
    """Mount /proc before that: bubblewrap, run by root, leaves one that runs cannot have anew."""


@dataclass(frozen=True)
class RunSetup:
    """The bounds and places of one run. Sizes in bytes, times in seconds."""

    folder: str
    """The current folder of the code."""
    temporary: str
    cpu: int
    address_space: int
    processes: int
    file_size: int
    answer: int
