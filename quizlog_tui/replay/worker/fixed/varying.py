"""Changes single conditions on purpose, to find out which of them a script depends on.

Hashes, addresses and the clock are changed by the parent, which starts the run.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from struct import pack

from ..environment import move_environment
from ..folder import Folder
from ..job import Job
from . import below_python
from .identity import Entries
from .native import Native, flagging, number_unless
from .other_home import home
from .other_machine import OtherMachine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
            environment(self.machine)
        if "home" in changed:
            home(self.machine, starts="starts" not in changed)
        if "metadata" in changed - self._told_otherwise:
            metadata(turned=self._folder.turned)
        if "threads" in changed:
            threads()


def environment(machine: OtherMachine) -> None:
    """Set another user, language and time zone."""
    os.environ.update(
        USER=machine.user, LOGNAME=machine.user, LANG=machine.language, TZ=machine.zone
    )
    time.tzset()


def metadata(*, turned: bool) -> None:
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


def threads() -> None:
    """Switch between threads as often as possible, without a sign of it."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    with contextlib.suppress(OSError), Native(_THREADS) as native:
        flag, shown = native.data(bytes(8)), native.data(pack("d", usual))
        make, getting = native.address("PyFloat_FromDouble"), native.method(sys.getswitchinterval)
        native.replace_method(sys.getswitchinterval, number_unless(flag, shown, make, getting))
        setting = native.method(sys.setswitchinterval)
        native.replace_method(sys.setswitchinterval, flagging(flag, setting))
