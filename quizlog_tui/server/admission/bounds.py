"""How much a server holds at once, and what the limit of open files allows of that."""

from __future__ import annotations

from dataclasses import dataclass

from ..replayer_pool import PROCESSES

CONNECTIONS = 2048
"""Open connections at once."""
ACCEPTED = 64
"""Connections accepted at once, before it is seen how many there are."""
_OWN_DESCRIPTORS = 256
_DESCRIPTORS = 5
"""What a run or checkpoint keeps open, at most."""


@dataclass(frozen=True)
class Bounds:
    """How much a server holds at once."""

    processes: int = PROCESSES
    """Runs and checkpoints."""
    connections: int = CONNECTIONS
    """Open connections; a few more are open while new ones are accepted."""


def allowed_bounds() -> Bounds:
    """What the limit of open files allows, once it is raised as far as it may be."""
    own = _OWN_DESCRIPTORS + 2 * ACCEPTED
    soft = _raised_limit(own + CONNECTIONS + PROCESSES * _DESCRIPTORS)
    if soft is None:
        return Bounds()
    connections = min(CONNECTIONS, soft // 8)
    processes = (soft - own - connections) // _DESCRIPTORS
    return Bounds(max(16, min(PROCESSES, processes)), connections)


def _raised_limit(wanted: int) -> int | None:
    """The limit of open files, after raising it up to `wanted`; None if there is none."""
    try:
        import resource
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if allowed > soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        soft = allowed
    return None if soft == resource.RLIM_INFINITY else soft
