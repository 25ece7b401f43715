"""Changes what else lies in the script's folder: some files more, and some of the script's fewer.

An overlay shows a layer of its own for that above the folder, so that nothing of it seems to be
written by the run.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from .fixed.other_machine import OtherMachine
from .job import Job


def make_layer(job: Job, layer: str) -> None:
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


def change(job: Job, folder: str) -> None:
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
