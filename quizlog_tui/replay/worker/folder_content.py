"""What lies in the script's folder where that is not the user's folder as it is.

- After a grant, only what the user looked at: each file is compared with its digest, so that what
  changed meanwhile is not run.
- Where leftover files are changed on purpose: some files more, and some of the script's fewer. An
  overlay shows a layer of its own for that above the folder, so that nothing of it seems to be
  written by the run.
- Where the system permits no overlay: a copy of the folder, unless it is too big.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Collection, Iterator
from os import listdir

from .fixed.other_machine import OtherMachine
from .job import Job

_FOLDER, _LINK = "folder", "link "
_SHA = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
"""The built-in module: `hashlib` would load the library of OpenSSL."""
_MOST_BYTES, _MOST_FILES = 256 * 2**20, 5000
"""Maximum size of a folder that is copied."""
_LEFT_OUT = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__"})


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
    return str(__import__(_SHA).sha256(data).hexdigest())


def make_leftover_layer(job: Job, layer: str) -> None:
    """Make a layer to be shown above the current folder.

    Raises:
        OSError: It cannot be made.
    """
    os.mkdir(layer)
    places = [place for place in map(_place, job.hidden) if _is_file_below(place)]
    for name in places:
        os.makedirs(f"{layer}/{os.path.dirname(name)}", exist_ok=True)
        os.mknod(f"{layer}/{name}", stat.S_IFCHR, os.makedev(0, 0))  # hides what lies below
    for inner in sorted({above for name in places for above in _above(name)}, reverse=True):
        _like(f"{layer}/{inner}", inner)
    _add(job, layer)


def change_leftovers(job: Job, folder: str) -> None:
    """Change a copy of the current folder."""
    for name in job.hidden:
        if os.path.isfile(f"{folder}/{name}"):
            os.unlink(f"{folder}/{name}")
    _add(job, folder)


def _place(name: str) -> str:
    """Where a file lies, seen from the current folder, whatever links are in its name."""
    above, last = os.path.split(name)
    return os.path.relpath(f"{os.path.realpath(above)}/{last}", os.path.realpath("."))


def _is_file_below(place: str) -> bool:
    return os.path.isfile(place) and not place.startswith("..")


def _above(name: str) -> Iterator[str]:
    """The folders in which a file lies."""
    while name := os.path.dirname(name):
        yield name


def _like(made: str, other: str) -> None:
    """Give a folder the mode and the times of another one."""
    known = os.stat(other)
    os.chmod(made, stat.S_IMODE(known.st_mode))
    os.utime(made, ns=(known.st_atime_ns, known.st_mtime_ns))


def _add(job: Job, folder: str) -> None:
    """Add files under names that are not there yet, as old as the script."""
    time_ns = os.lstat(job.name).st_mtime_ns
    for files in OtherMachine(job.seed).left:
        name, content = next((one for one in files if not os.path.lexists(one[0])), ("", ""))
        if name:
            with open(f"{folder}/{name}", "w") as file:
                file.write(content)
            os.utime(f"{folder}/{name}", ns=(time_ns, time_ns))


def copy_tree(source: str, target: str, private: Collection[str] = ()) -> bool:
    """Copy a folder without some of its files; return False if it is too big."""
    return _copied_tree(source, target, [_MOST_BYTES, _MOST_FILES], private)


def _copied_tree(source: str, target: str, left: list[int], private: Collection[str] = ()) -> bool:
    try:
        names = listdir(source)
    except PermissionError:
        return True  # nor could the script read it
    for name in names:
        here, there = f"{source}/{name}", f"{target}/{name}"
        if name in private:
            continue
        if os.path.islink(here):
            os.symlink(os.readlink(here), there)
        elif os.path.isdir(here):
            if not target.startswith(f"{here}/") and not is_left_out(here, name):
                os.mkdir(there)
                if not _copied_tree(here, there, left):
                    return False
        elif os.path.isfile(here):
            left[0] -= os.path.getsize(here)
            left[1] -= 1
            if min(left) < 0 or not _copy_file(here, there):
                return False
    return True


def is_left_out(path: str, name: str) -> bool:
    """Whether a folder is left out: version control, environments, caches."""
    return name in _LEFT_OUT or os.path.exists(f"{path}/pyvenv.cfg")


def _copy_file(source: str, target: str) -> bool:
    """Copy a file, with shared blocks if possible; return whether it was copied."""
    try:
        reading = os.open(source, os.O_RDONLY)
    except PermissionError:
        return True  # nor could the script read it
    writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, os.fstat(reading).st_mode)
    try:
        while chunk := _piece(reading, writing):
            while chunk:
                chunk = chunk[os.write(writing, chunk) :]
    finally:
        os.close(reading)
        os.close(writing)
    return True


def _piece(reading: int, writing: int) -> bytes:
    """Copy inside the kernel as far as possible; return the next bytes to be written here."""
    with contextlib.suppress(OSError, AttributeError):
        while os.copy_file_range(reading, writing, 1 << 26):
            pass
    return os.read(reading, 1 << 20)
