"""Isolates a quiz script: it can reach only its own folder and Python.

The sandbox provides the function that isolates; see `process.spawn`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from . import system
from .folder import SHARED_MEMORY, TEMPORARY, Folder, leftover
from .guard import Outlet
from .job import Job

Shut = Callable[..., str]
"""`sandbox.inside.shut.shut`."""
_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/nix/store", "/gnu/store")
_SYSTEM = ("/proc", "/sys/devices/system", "/sys/fs/cgroup")
_SETTINGS = (
    "alternatives", "ca-certificates", "debian_version", "fonts", "gai.conf", "group", "host.conf",
    "hosts", "ld.so.cache", "locale.alias", "localtime", "mime.types", "nsswitch.conf",
    "os-release", "passwd", "pki/ca-trust/extracted", "pki/tls/certs", "protocols", "resolv.conf",
    "services", "ssl/certs", "ssl/openssl.cnf", "timezone",
)  # fmt: skip
"""Parts of `/etc` that libraries read; other parts contain secrets, which root could read."""
_PARTS = ("bin", "lib", "lib64", "libexec", "include", "share", "etc", "pyvenv.cfg")
"""Parts of an interpreter's folder, which may also be somebody's project folder."""
_OF_ENVIRONMENT = ("bin", "lib", "pyvenv.cfg")
"""Parts of a virtual environment, none of which may be a link."""
_DRAWING = (".cache/matplotlib", ".config/matplotlib", ".cache/fontconfig", ".fonts")
"""Caches of fonts in the user's home, which take seconds to make again."""


def isolate(
    shut: Shut,
    outlet: Outlet,
    folder: Folder,
    job: Job,
    *,
    network: str,
    clocks: Iterable[tuple[int, int]],
) -> str:
    """Isolate this process.

    Args:
        shut: The function that isolates.
        outlet: Leads to the guard, which decides whether a process may be signalled.
        folder: The private folder in which the script runs.
        job: The script and its grants.
        network: The network that it may use: `real`, its `own`, or `none`.
        clocks: Code of ours that reads clocks.

    Returns:
        The kind of isolation, in the words of `shut`.

    Raises:
        OSError: The isolation could not be completed.
    """
    own = [folder.path, TEMPORARY, leftover(os.getpid())]
    own += [SHARED_MEMORY] if folder.own_memory else []  # else it belongs to everybody
    readable = ["/"] if "real-files" in job.asked else [*_readable(folder, job)]
    starts = "starts" not in job.changed
    isolation = shut(
        *(own, chain(readable, folder.layers())),
        network=network,
        starts=starts,
        seal=lambda: folder.seal(readable),
        take=outlet.hand_over,
        clocks=clocks,
        given=folder.given(),
    )
    outlet.close()
    folder.shut = bool(isolation)
    if isolation:
        system.close_to_others()
    return isolation


def _readable(folder: Folder, job: Job) -> Iterator[str]:
    yield from _PROGRAMS
    yield from () if "system" in job.changed else _SYSTEM
    for name in _SETTINGS:
        yield f"/etc/{name}"
    prefixes = dict.fromkeys((sys.prefix, sys.base_prefix))
    parts = [f"{prefix}/{part}" for prefix in prefixes for part in _PARTS]
    parts += [f"{job.libraries}/{part}" for part in _OF_ENVIRONMENT if job.libraries]
    yield from parts
    libraries = [*sys.path, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    known = ("/usr/", *(f"{part}/" for part in parts))
    yield from (path for path in libraries if path[:1] == "/" and not path.startswith(known))
    home = os.path.expanduser("~")
    for name in _DRAWING:
        yield f"{home}/{name}"
    if folder.way != "overlay":
        yield job.path  # tracebacks read its lines there
