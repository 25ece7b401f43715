"""The parent's instructions to a box and its runs: plain data, sent as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["bwrap", "landlock", "rlimits"]
"""The isolation levels, best first."""


@dataclass(frozen=True)
class BoxSetup:
    """The setup of a box."""

    level: Level
    preload: list[str]
    """Modules to import before any run; missing ones are skipped."""
    paths: list[str]
    """Folders to add to the module search path."""
    readable: list[str]
    """Paths that Landlock leaves readable."""
    drop_to: int | None
    """The user and group id to switch to if started by root."""
    mount_proc: bool
    """Whether to mount /proc before that; runs cannot remount the one that bubblewrap makes."""


@dataclass(frozen=True)
class RunSetup:
    """The limits and paths of a run. Sizes in bytes, times in seconds."""

    folder: str
    """The current folder of the code."""
    temporary: str
    cpu: int
    address_space: int
    processes: int
    file_size: int
    answer: int
