"""The server's limits on processes and connections, derived from the limit on open files."""

from __future__ import annotations

from dataclasses import dataclass

from ..replayer_pool import PROCESSES

CONNECTIONS = 2048
"""Maximum number of open connections."""
ACCEPTED = 64
"""Maximum number of connections accepted at once, before the open ones are counted again."""
_OWN_DESCRIPTORS = 256
_DESCRIPTORS = 5
"""Maximum number of descriptors that a run or checkpoint keeps open."""


@dataclass(frozen=True)
class Bounds:
    """Limits on what a server holds at once."""

    processes: int = PROCESSES
    """Maximum number of runs and checkpoints."""
    connections: int = CONNECTIONS
    """Maximum number of open connections; briefly exceeded while new ones are accepted."""


def allowed_bounds() -> Bounds:
    """The bounds that the limit on open files allows, after raising it as far as possible."""
    own = _OWN_DESCRIPTORS + 2 * ACCEPTED
    soft = _raised_limit(own + CONNECTIONS + PROCESSES * _DESCRIPTORS)
    if soft is None:
        return Bounds()
    connections = min(CONNECTIONS, soft // 8)
    processes = (soft - own - connections) // _DESCRIPTORS
    return Bounds(max(16, min(PROCESSES, processes)), connections)


def _raised_limit(wanted: int) -> int | None:
    """The limit on open files, after raising it up to `wanted`; None if there is no limit."""
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
