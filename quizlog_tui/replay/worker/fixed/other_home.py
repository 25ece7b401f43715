"""Lets the script find another user and another machine than those here."""

from __future__ import annotations

import contextlib
import os
import sys

from ..environment import other_name, rename
from .native import Native, constant, copied, filled, listed, masked
from .other_machine import OtherMachine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PLACE = 0x2000_0000_0000
"""Where code lies that is put in place of the C library's."""
_FIELD = 65
"""Bytes of a part of what `uname` returns."""
_LIBRARIES = {"PYTHONPATH": ":{}/lib/python", "LD_LIBRARY_PATH": ":{}/lib"}
"""Variables with the folders of libraries, and what can be added to them without effect."""
_THREADS = (31290, 15441)
"""Limits of processes, where a bigger one is not permitted; no user has so many."""


def home(machine: OtherMachine, *, starts: bool) -> None:
    """Set another user, home folder, machine and name of Python.

    Args:
        machine: The user and the machine.
        starts: Whether the script may start programs.
    """
    _paths(machine, starts=starts)
    with contextlib.suppress(OSError), Native(_PLACE) as native:
        _replace(native, machine)
    _make_sure(machine)
    os.umask(machine.mask)
    _limits(machine)


def _paths(machine: OtherMachine, *, starts: bool) -> None:
    """Set other paths, by which everything is still found; no variable that is not set."""
    real, variables = os.path.expanduser("~"), os.environ
    own = f"{real}/.local"
    if starts and any(path.startswith(f"{own}/") for path in sys.path):
        variables.setdefault("PYTHONUSERBASE", own)  # programs would not find packages there
    others = {"HOME": machine.home, "CONDA_PREFIX": f"{machine.home}/miniconda3"}
    variables.update({name: path for name, path in others.items() if name in variables})
    variables["PATH"] += f":{machine.own_folder}"
    for name, more in _LIBRARIES.items():
        if name in variables:
            variables[name] += more.format(machine.home)
    rename(other_name(sys.executable))
    _move_packages(real, machine.home)


def _move_packages(real: str, home: str) -> None:
    """Let the user's own packages, if there are none, belong to another home folder."""
    site: Any = sys.modules.get("site")
    if site is None or getattr(site, "USER_SITE", None) in sys.path:
        return
    for name in ("USER_BASE", "USER_SITE"):
        path = getattr(site, name, None) or ""
        if path.startswith(f"{real}/"):
            setattr(site, name, home + path[len(real) :])


def _replace(native: Native, machine: OtherMachine) -> None:
    """Replace functions of the C library, for all who call them."""
    number, size = machine.number, machine.processors
    native.replace("getgroups", listed(machine.groups))
    for name in ("getuid", "geteuid", "getgid", "getegid"):
        native.replace(name, constant(number))
    for name in ("getresuid", "getresgid"):
        native.replace(name, filled(number))
    for name in ("get_nprocs", "get_nprocs_conf"):
        native.replace(name, constant(size))
    native.replace("sched_getaffinity", masked((1 << size) - 1))
    native.replace("get_phys_pages", constant(machine.pages))
    native.replace("get_avphys_pages", constant(machine.free_pages))
    version = native.data(machine.c_library.encode() + b"\0")
    native.replace("gnu_get_libc_version", constant(version))
    user = machine.user.encode() + b"\0"
    at = native.data(user)
    native.replace("getlogin", constant(at))
    native.replace("getlogin_r", copied(at, len(user)))
    texts = (*_system(machine), "(none)")
    names = b"".join(os.fsencode(text).ljust(_FIELD, b"\0") for text in texts)
    native.replace("uname", copied(native.data(names), len(names)))


def _system(machine: OtherMachine) -> tuple[str, ...]:
    name, node, _, _, kind = os.uname()
    return name, node, machine.release, machine.version, kind


def _make_sure(machine: OtherMachine) -> None:
    """Replace functions of Python where those of the C library could not be."""
    number, processors = machine.number, machine.processors
    known: dict[str, object] = {
        **dict.fromkeys(("getuid", "geteuid", "getgid", "getegid"), number),
        **dict.fromkeys(("getresuid", "getresgid"), (number,) * 3),
        "getgroups": list(machine.groups),
        "cpu_count": processors,
        "uname": os.uname_result(_system(machine)),
    }
    for name, value in known.items():
        if hasattr(os, name) and getattr(os, name)() != value:
            setattr(os, name, lambda value=value: value)
    if hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) != processors:
        os.sched_getaffinity = lambda pid, /: set(range(processors))


def _limits(machine: OtherMachine) -> None:
    """Set other limits, as far as the system permits it and no script is hindered."""
    known = "resource" in sys.modules
    import resource

    for name, limits in _wanted(machine, resource.RLIM_INFINITY).items():
        kind: int = getattr(resource, name, -1)
        for one in limits if kind >= 0 else ():
            now = resource.getrlimit(kind)
            if one != now and (now[1] == resource.RLIM_INFINITY or 0 <= one[1] <= now[1]):
                with contextlib.suppress(OSError, ValueError):
                    resource.setrlimit(kind, one)
                break
    if not known:
        del sys.modules["resource"]


def _wanted(machine: OtherMachine, none: int) -> dict[str, list[tuple[int, int]]]:
    """The limits of another machine by name: the first holds that can be set and is not in force.

    Args:
        machine: The machine.
        none: The number that means no limit.
    """
    threads = [(count, count) for count in (machine.pages >> 6, *_THREADS)]
    return {
        "RLIMIT_NOFILE": machine.open_files,
        "RLIMIT_NPROC": threads,
        "RLIMIT_SIGPENDING": threads,
        "RLIMIT_MEMLOCK": [(2**23, 2**23), (2**16, 2**16)],
        "RLIMIT_STACK": [(size, most) for most in (none, 2**26) for size in machine.stacks],
        "RLIMIT_CORE": [(0, none), (0, 0)],
    }
