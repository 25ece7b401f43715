"""Changes clocks, times of files and the machine's state below Python, whoever asks for them.

The entries of the system's functions are overwritten by jumps to `overwriting`. So not only
Python's own functions tell other values, but each library and all that a script reaches by
`ctypes`. Clocks that no date shows are moved by the system itself, so that all that waits by
them waits as long as ever. Only for worlds in which something is changed on purpose.

A child writes into this process: what it takes memory for does not move the script's objects.
"""

from __future__ import annotations

import contextlib
import os
import sys

from .. import system
from ..job import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONDITIONS = ("libraries", "metadata", "system")
"""The conditions that change something here."""
_CODE_AT, CODE_SIZE = 0x7F00_0000, 2 * 4096
CODE = (_CODE_AT, _CODE_AT + CODE_SIZE)
"""Where the code lies: so far from everything that nothing is moved, and an `int` in C."""
_HEAD = 16
"""Bytes before the code: the seconds that are taken from times, and a bit for each condition that
was changed. The code begins with what hides the clocks of the kernel's own library."""
_HUNDREDTHS = 8_640_000
"""Hundredths of a second of a day."""
_OWN_TIME = 0x80
"""The flag of `unshare` for clocks of its own."""


def install(job: Job) -> frozenset[str]:
    """Change what is told below Python, as far as the system permits.

    Returns:
        The conditions for which functions of the system tell other values.
    """
    with contextlib.suppress(OSError):
        if "libraries" in job.changed:
            _age(job.seed)
    with contextlib.suppress(OSError):
        if not job.changed.isdisjoint(CONDITIONS):
            return _told_otherwise(job)
    return frozenset()


def _days_up(seed: int) -> int:
    """Days by which the machine has been running longer."""
    return 1 + seed % 47


def _age(seed: int) -> None:
    """Let the machine have been running for some days more."""
    more = f"{_days_up(seed) * 86_400 + seed % 80_021} {seed % 10**9}"
    system.call("unshare", _OWN_TIME)
    fd = os.open("/proc/self/timens_offsets", os.O_WRONLY)
    try:
        os.write(fd, f"monotonic {more}\nboottime {more}\n".encode())
    finally:
        os.close(fd)
    fd = os.open("/proc/self/ns/time_for_children", os.O_RDONLY)
    try:
        system.call("setns", fd, _OWN_TIME)
    finally:
        os.close(fd)


def _told_otherwise(job: Job) -> frozenset[str]:
    memory = os.open("/proc/self/mem", os.O_RDWR)
    try:
        system.make_room(_CODE_AT, CODE_SIZE)
        system.aside(lambda: _overwrite(memory, job))
        seconds, bits = (_number(memory, at) for at in (_CODE_AT, _CODE_AT + 8))
    finally:
        os.close(memory)
    done = frozenset(name for bit, name in enumerate(CONDITIONS) if bits >> bit & 1)
    if "libraries" in done:
        system.run(_CODE_AT + _HEAD)
    if "metadata" in done:
        _keep_compiled(seconds)
    return done


def _overwrite(memory: int, job: Job) -> int:
    """Overwrite functions of the process above this one."""
    from .overwriting import Overwriting

    room = range(_CODE_AT + _HEAD, _CODE_AT + CODE_SIZE)
    overwriting = Overwriting(memory, room, job, _days_up(job.seed) * _HUNDREDTHS)
    done = sum(overwriting.done(name) << bit for bit, name in enumerate(CONDITIONS))
    head = (overwriting.seconds, done)
    os.pwrite(memory, b"".join(word.to_bytes(8, "little") for word in head), _CODE_AT)
    return 0


def _number(memory: int, at: int) -> int:
    return int.from_bytes(os.pread(memory, 8, at), "little")


def _keep_compiled(seconds: int) -> None:
    """Let compiled modules be valid, which name the real time of their source."""
    importing: Any = sys.modules["_frozen_importlib_external"]
    validate, compiled = importing._validate_timestamp_pyc, importing._code_to_timestamp_pyc

    def _validate_timestamp_pyc(data: Any, source_mtime: int, *rest: Any) -> None:
        validate(data, source_mtime + seconds, *rest)

    def _code_to_timestamp_pyc(code: Any, mtime: int = 0, source_size: int = 0) -> Any:
        return compiled(code, mtime + seconds, source_size)

    importing._validate_timestamp_pyc = _validate_timestamp_pyc
    importing._code_to_timestamp_pyc = _code_to_timestamp_pyc
