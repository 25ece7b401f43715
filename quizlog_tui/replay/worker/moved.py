"""Lets the environment with the libraries lie elsewhere, in the mounts of this process alone.

What lies in it is the same, so everything is found; and all that names it agrees.
"""

from __future__ import annotations

import contextlib
import os
import sys

from . import system
from .environment import rename
from .fixed.other_machine import OtherMachine
from .folder import ROOMS, Folder, make_place
from .job import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def move_environment(machine: OtherMachine, job: Job, folder: Folder) -> None:
    """Move the environment, if there is one and the system permits it."""
    own = sys.prefix if sys.prefix != sys.base_prefix else ""
    real = job.libraries or own
    if not real:
        return
    with contextlib.suppress(OSError):
        place = _beside(real, job, folder) or _mounted(real, machine, job)
        if job.libraries:
            job.libraries = place
        else:
            _name(real, place)


def _beside(real: str, job: Job, folder: Folder) -> str:
    """Where it is in a folder that lies elsewhere with it; empty if it does not."""
    above = f"{os.path.dirname(job.path)}/"
    place = f"{folder.path}/{real[len(above) :]}"
    return place if real.startswith(above) and place != real and os.path.isdir(place) else ""


def _mounted(real: str, machine: OtherMachine, job: Job) -> str:
    """A place where it is mounted.

    Raises:
        OSError: It cannot be mounted.
    """
    room = os.path.dirname(job.at)
    if not room:
        room = f"{_empty_room()}/{machine.user}"
        make_place(room)
    place = f"{room}/{machine.environment}"
    if place == job.at:
        raise OSError("the script's folder lies there")
    os.makedirs(place, exist_ok=True)
    system.mount(None, os.fsencode(real), os.fsencode(place), system.BIND, b"")
    return place


def _empty_room() -> str:
    for room in ROOMS:
        if os.path.isdir(room) and not os.listdir(room):
            return room
    raise OSError("there is no room")


def _name(real: str, place: str) -> None:
    """Name the other place wherever the interpreter names the real one."""

    def moved(path: str) -> str:
        return place + path[len(real) :] if f"{path}/".startswith(f"{real}/") else path

    sys.prefix, sys.exec_prefix = place, place
    sys.path[:] = map(moved, sys.path)
    rename(moved(sys.executable))
    site: Any = sys.modules.get("site")
    if site is not None:
        site.PREFIXES[:] = dict.fromkeys(map(moved, site.PREFIXES))
    for path in [path for path in sys.path_importer_cache if moved(path) != path]:
        del sys.path_importer_cache[path]
    os.environ["PATH"] = ":".join(map(moved, os.environ["PATH"].split(":")))
