"""Bounds on the resources of a script."""

from __future__ import annotations

from dataclasses import dataclass

from ...config import Config

_MEGA = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Bounds on a running script; 0 means none."""

    seconds: float = 30.0
    """Seconds from an answer to the next stop, without those in which the machine ran others."""
    output: int = 10 * 1024 * 1024
    """Bytes written to stdout and stderr from an answer to the next stop."""
    memory: int = 2 * 1024 * 1024 * 1024
    """Bytes of data of the script's process, and of all processes together that it started."""
    processes: int = 256
    """Maximum number of concurrent processes that it started, and of threads."""


def user_limits(config: Config) -> Limits:
    """The bounds in the user's settings."""
    return Limits(
        config.limits_seconds,
        config.limits_output_mb * _MEGA,
        config.limits_memory_mb * _MEGA,
        config.limits_processes,
    )
