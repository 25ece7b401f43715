"""Changes single conditions on purpose, to find out which of them a script depends on.

Hashes, addresses and the clock are changed by the parent, which starts the run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection

from .listing import Entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MIRROR = 2 * 1_700_000_000 * 10**9
"""Twice the time, in nanoseconds, at which times of files are mirrored."""
_NUMBERS = 2**31 - 1
"""Bits that are flipped in the numbers of files."""
STRAY = "zz-stray.txt"
_ENVIRONMENT = {
    "USER": "somebody",
    "LOGNAME": "somebody",
    "TZ": "Asia/Kathmandu",
    "LANG": "de_DE.UTF-8",
    "COLUMNS": "131",
    "LINES": "41",
    "QUIZLOG_VARIED": "1",
}


def environment() -> None:
    """Set another user, time zone and terminal."""
    os.environ.update(_ENVIRONMENT)
    time.tzset()


_LIBRARIES = {
    "PYTHONPATH": ":/nonexistent",
    "LD_LIBRARY_PATH": ":/nonexistent",
    "CONDA_PREFIX": "/.",
}
"""Variables with the folders of libraries, and what can be added to them without effect."""
_PREFIXES = ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix")


def home() -> None:
    """Set another user, home folder, machine and path of Python."""
    _paths()
    _user(17)
    _machine()


def _paths() -> None:
    """Set other paths, by which everything is still found."""
    keep = os.path.expanduser("~/.local")  # or packages that are installed there would be missing
    os.environ.setdefault("PYTHONUSERBASE", keep)
    os.environ["HOME"] = "/nonexistent/elsewhere"
    os.environ["PATH"] += ":/nonexistent/bin"
    for name, more in _LIBRARIES.items():
        os.environ[name] = os.environ.get(name, "/nonexistent") + more
    folder, name = os.path.split(sys.executable)
    sys.executable = f"{folder}/../{os.path.basename(folder)}/{name}"
    for name in _PREFIXES:
        setattr(sys, name, f"{getattr(sys, name)}/.")


def _user(more: int) -> None:
    """Set other numbers of user and groups."""
    user, group = os.getuid() + more, os.getgid() + more
    groups = [number + more for number in os.getgroups()]
    _put(getuid=lambda: user, geteuid=lambda: user, getresuid=lambda: (user,) * 3)
    _put(getgid=lambda: group, getegid=lambda: group, getresgid=lambda: (group,) * 3)
    _put(getgroups=lambda: groups)


def _machine() -> None:
    """Set another system, with more processors."""
    count, plain = (os.cpu_count() or 1) + 1, os.uname

    def uname() -> Any:
        name, node, release, version, machine = plain()
        return os.uname_result((name, node, f"{release}-other", f"{version} (other)", machine))

    _put(cpu_count=lambda: count, sched_getaffinity=lambda pid, /: set(range(count)), uname=uname)


def _put(**functions: Any) -> None:
    """Replace functions of `os` that this system has."""
    for name, function in functions.items():
        if hasattr(os, name):
            setattr(os, name, function)


def leftovers(hidden: Collection[str]) -> None:
    """Change the files in the folder: add one, and remove those that the script writes itself."""
    for name in hidden:
        if os.path.isfile(name):
            os.unlink(name)
    with open(STRAY, "w") as file:
        file.write("left over\n")


def metadata() -> None:
    """Give files other times and numbers, which also sort the other way round."""
    for name in ("stat", "lstat", "fstat"):
        setattr(os, name, _mirrored(getattr(os, name)))
    plain = os.scandir

    def scandir(path: Any = None) -> Entries:
        with plain(path) as entries:
            return Entries(list(map(_Entry, entries)))

    os.scandir = scandir  # type: ignore[assignment]


class _Entry(os.PathLike["Any"]):
    """An entry of a folder with other times and numbers."""

    def __init__(self, entry: Any) -> None:
        self._entry = entry
        self.stat = _mirrored(entry.stat)

    def inode(self) -> int:
        number: int = self._entry.inode()
        return number ^ _NUMBERS

    def __fspath__(self) -> Any:
        return self._entry.path

    def __repr__(self) -> str:
        return repr(self._entry)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)


def _mirrored(real: Any) -> Any:
    def stat(*args: Any, **options: Any) -> Any:
        found = real(*args, **options)
        fields, extra = list(found), dict(found.__reduce__()[1][1])
        fields[1] ^= _NUMBERS
        for index, name in ((7, "st_atime"), (8, "st_mtime"), (9, "st_ctime")):
            nanoseconds = _MIRROR - extra[f"{name}_ns"]
            fields[index] = nanoseconds // 10**9
            extra[name], extra[f"{name}_ns"] = nanoseconds / 1e9, nanoseconds
        return type(found)(fields, extra)

    return stat


def threads() -> None:
    """Switch between threads as often as possible."""
    sys.setswitchinterval(1e-6)
