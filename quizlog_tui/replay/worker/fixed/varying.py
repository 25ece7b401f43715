"""Changes single conditions on purpose, to find out which of them a script depends on.

The user's settings, the user and the machine, metadata of files, turns of threads. Hashes,
addresses and the clock are changed by the parent, which starts the run.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from struct import pack

from ..environment import move_environment, other_name, rename
from ..folder import Folder
from ..job import Job
from . import below_python
from .identity import Entries
from .native import Native, constant, copied, filled, flagging, listed, masked, number_unless
from .other_machine import OtherMachine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CODE_OF_HOME = 0x2000_0000_0000
"""Where code lies that is put in place of the C library's."""
_FIELD = 65
"""Bytes of a part of what `uname` returns."""
_LIBRARIES = {"PYTHONPATH": ":{}/lib/python", "LD_LIBRARY_PATH": ":{}/lib"}
"""Variables with the folders of libraries, and what can be added to them without effect."""
_FEWER_THREADS = (31290, 15441)
"""Limits of processes, where a bigger one is not permitted; no user has so many."""
_THREADS = 0x3000_0000_0000
"""Where code lies that is put in place of the interpreter's."""
_MIRROR = 2 * 1_700_000_000 * 10**9
"""Twice the time, in nanoseconds, at which times of files are mirrored."""
_EARLIER = 40 * 86400 * 10**9
"""By how many nanoseconds files are older where times are not mirrored."""
_NUMBERS = 2**31 - 1
"""Bits that are flipped in the numbers of files."""


class Varying:
    """Changes the conditions of a job.

    Args:
        job: The script, and the conditions.
        folder: The private folder.
    """

    def __init__(self, job: Job, folder: Folder) -> None:
        self._job = job
        self._folder = folder
        self._told_otherwise: frozenset[str] = frozenset()
        self.machine = OtherMachine(job.seed)

    def prepare(self) -> tuple[tuple[int, int], ...]:
        """Change what cannot be changed any more when this process is isolated.

        Returns:
            Code of ours that reads the system's clocks.
        """
        if "home" in self._job.changed and self._folder.way == "overlay":
            move_environment(self.machine, self._job, self._folder)
        self._told_otherwise = below_python.install(self._job)
        return (below_python.CODE,) if "libraries" in self._told_otherwise else ()

    def install(self) -> None:
        """Change all else."""
        changed = self._job.changed
        if "environment" in changed:
            _environment(self.machine)
        if "home" in changed:
            _home(self.machine, starts="starts" not in changed)
        if "metadata" in changed - self._told_otherwise:
            _metadata(turned=self._folder.turned)
        if "threads" in changed:
            _threads()


def _environment(machine: OtherMachine) -> None:
    """Set another user, language and time zone."""
    os.environ.update(
        USER=machine.user, LOGNAME=machine.user, LANG=machine.language, TZ=machine.zone
    )
    time.tzset()


def _home(machine: OtherMachine, *, starts: bool) -> None:
    """Set another user, home folder, machine and name of Python.

    Args:
        machine: The user and the machine.
        starts: Whether the script may start programs.
    """
    _paths(machine, starts=starts)
    with contextlib.suppress(OSError), Native(_CODE_OF_HOME) as native:
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
    threads = [(count, count) for count in (machine.pages >> 6, *_FEWER_THREADS)]
    return {
        "RLIMIT_NOFILE": machine.open_files,
        "RLIMIT_NPROC": threads,
        "RLIMIT_SIGPENDING": threads,
        "RLIMIT_MEMLOCK": [(2**23, 2**23), (2**16, 2**16)],
        "RLIMIT_STACK": [(size, most) for most in (none, 2**26) for size in machine.stacks],
        "RLIMIT_CORE": [(0, none), (0, 0)],
    }


def _metadata(*, turned: bool) -> None:
    """Give files other times and numbers, which also sort the other way round.

    Args:
        turned: Whether the times of the script's own files sort so already.
    """
    change = _shifted if turned else _mirrored
    for name in ("stat", "lstat", "fstat"):
        setattr(os, name, _changed(getattr(os, name), change))
    plain = os.scandir

    def scandir(path: Any = None) -> Entries:
        with plain(path) as entries:
            return Entries([_Entry(entry, change) for entry in entries])

    os.scandir = scandir  # type: ignore[assignment]


TYPE_CHECKING = False


class _Entry(os.PathLike["Any"]):
    """An entry of a folder with other times and numbers."""

    def __init__(self, entry: Any, change: Callable[[int], int]) -> None:
        self._entry = entry
        self.stat = _changed(entry.stat, change)

    def inode(self) -> int:
        number: int = self._entry.inode()
        return number ^ _NUMBERS

    def __fspath__(self) -> Any:
        return self._entry.path

    def __repr__(self) -> str:
        return repr(self._entry)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)


def _mirrored(moment: int) -> int:
    return _MIRROR - moment


def _shifted(moment: int) -> int:
    return moment - _EARLIER


def _changed(real: Any, change: Callable[[int], int]) -> Any:
    def stat(*args: Any, **options: Any) -> Any:
        found = real(*args, **options)
        fields, extra = list(found), dict(found.__reduce__()[1][1])
        fields[1] ^= _NUMBERS
        for index, name in ((7, "st_atime"), (8, "st_mtime"), (9, "st_ctime")):
            nanoseconds = change(extra[f"{name}_ns"])
            fields[index] = nanoseconds // 10**9
            extra[name], extra[f"{name}_ns"] = nanoseconds / 1e9, nanoseconds
        return type(found)(fields, extra)

    return stat


def _threads() -> None:
    """Switch between threads as often as possible, without a sign of it."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    with contextlib.suppress(OSError), Native(_THREADS) as native:
        flag, shown = native.data(bytes(8)), native.data(pack("d", usual))
        make, getting = native.address("PyFloat_FromDouble"), native.method(sys.getswitchinterval)
        native.replace_method(sys.getswitchinterval, number_unless(flag, shown, make, getting))
        setting = native.method(sys.setswitchinterval)
        native.replace_method(sys.setswitchinterval, flagging(flag, setting))
