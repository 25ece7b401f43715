"""The virtual environment with the script's libraries: enters it, or lets it lie elsewhere.

`python` of the environment would enter it at its start, and run code that stands there (`.pth`).
Here it is done when the interpreter is isolated, as that code may be a stranger's. Where it lies
elsewhere, in the mounts of this process alone, what lies in it is the same, so everything is found;
and all that names it agrees.
"""

from __future__ import annotations

import contextlib
import os
import site
import sys

from . import system
from .fixed.other_machine import OtherMachine
from .folder import ROOMS, Folder, make_place
from .job import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PYTHON = ("_frozen_importlib", "_frozen_importlib_external", "worker")


def enter(folder: str, *, respelled: bool) -> None:
    """Become what the environment's own program would be.

    Args:
        folder: The environment; empty for none.
        respelled: Whether the script finds another name of its interpreter.
    """
    if not folder:
        return
    others = (*site.getsitepackages(), site.getusersitepackages())
    sys.path[:] = [path for path in sys.path if path not in others]
    finders = sys.meta_path
    finders[:] = [one for one in finders if _module(one).partition(".")[0] in _PYTHON]
    sys.executable = f"{folder}/bin/python"
    sys.prefix = sys.exec_prefix = folder
    site.main()
    if respelled:
        rename(other_name(sys.executable))


def other_name(program: str) -> str:
    """Another usual name of an interpreter beside it; its own if there is none."""
    folder, name = os.path.split(program)
    for other in ("python3", f"python3.{sys.version_info[1]}", "python"):
        path = f"{folder}/{other}"
        if other != name and os.path.exists(path) and os.path.samefile(path, program):
            return path
    return program


def rename(program: str) -> None:
    """Set the path of the interpreter, wherever it tells it."""
    told: Any = sys
    if getattr(told, "_base_executable", "") == sys.executable:
        told._base_executable = program
    for at, word in enumerate(getattr(told, "orig_argv", ())):
        if word == sys.executable:
            told.orig_argv[at] = program
    sys.executable = program


def _module(finder: object) -> str:
    return str(getattr(finder, "__module__", ""))


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
