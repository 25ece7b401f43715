"""How much a script may use before it is stopped."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from ...config import Config

_MEGA = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Bounds on a running script; 0 means none."""

    seconds: float = 30.0
    """Wall time from an answer to the next stop."""
    output: int = 10 * 1024 * 1024
    """Bytes written to stdout and stderr from an answer to the next stop."""
    memory: int = 2 * 1024 * 1024 * 1024
    """Bytes of data of the script's process; and of all that it started, together."""
    processes: int = 256
    """Processes that it may have started and that run at a time, and threads."""

    def deadline(self) -> float:
        """When a step that begins now has taken too long, by the monotonic clock."""
        return time.monotonic() + self.seconds if self.seconds else math.inf


def user_limits(config: Config) -> Limits:
    """The bounds in the user's settings."""
    return Limits(
        config.limits_seconds,
        config.limits_output_mb * _MEGA,
        config.limits_memory_mb * _MEGA,
        config.limits_processes,
    )
