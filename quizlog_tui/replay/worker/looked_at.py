"""Copies what the user looked at before granting something, for a run that shall find nothing else.

Each file is compared with its digest, so that what changed meanwhile is not run.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from importlib import import_module

from .job import Job

_FOLDER, _LINK = "folder", "link "
_SHA = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
"""The built-in module: `hashlib` would load the library of OpenSSL."""


class Changed(Exception):
    """Something is not as it was when the user looked at it."""


def copy_looked_at(job: Job, target: str) -> None:
    """Copy what a job's script shall find in its folder to an empty folder.

    The script itself is written as it was read.

    Raises:
        Changed: A file is not as it was.
        OSError: There is no room.
    """
    for name, mark in sorted(job.looked_at.items()):  # folders come before what is in them
        place = f"{target}/{name}"
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if mark == _FOLDER:
            os.makedirs(place, exist_ok=True)
        elif mark.startswith(_LINK):
            os.symlink(mark.removeprefix(_LINK), place)
        else:
            data = job.source if name == job.name else _read(name, mark)
            _write(place, data, name)


def _read(name: str, mark: str) -> bytes:
    """The content of a file, which must have this digest.

    Raises:
        Changed: It has another one, or cannot be read.
    """
    data = b""
    with contextlib.suppress(OSError):
        file = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
        try:
            data = _whole(file) if stat.S_ISREG(os.fstat(file).st_mode) else b""
        finally:
            os.close(file)
    if f"sha256:{_digest(data)}" != mark:
        raise Changed(f"{name} is not as it was when it was read; open it again")
    return data


def _whole(file: int) -> bytes:
    pieces = [os.read(file, os.fstat(file).st_size)]
    while pieces[-1]:
        pieces.append(os.read(file, 1 << 20))
    return b"".join(pieces)


def _write(place: str, data: bytes, original: str) -> None:
    """Write a file with the mode and times of the original."""
    with open(place, "xb") as file:
        file.write(data)
    with contextlib.suppress(OSError):
        info = os.stat(original)
        os.chmod(place, info.st_mode & 0o777)
        os.utime(place, ns=(info.st_atime_ns, info.st_mtime_ns))


def _digest(data: bytes) -> str:
    return str(import_module(_SHA).sha256(data).hexdigest())
