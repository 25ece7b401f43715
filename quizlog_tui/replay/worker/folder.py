"""Makes the script's folder private, at no cost until something is written to it.

On Linux an overlay is mounted over the folder at the same path, which only this process and its
children see: reads reach the user's files, writes go to memory. Temporary files get a private
folder too. If the system does not permit an overlay, the folder is copied instead.

A script with a grant finds only what the user looked at: the overlay lies over a copy of that.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator
from os import fstat, listdir, scandir  # the originals: the script's view of `os` is patched later

from . import system
from .fixed.identity import HOST
from .job import Job
from .looked_at import Changed, copy_looked_at

TEMPORARY = "/tmp/quizlog"
"""The folder for temporary files: private to each run, at the same path for all."""
SHARED_MEMORY = "/dev/shm"
"""The folder of shared memory, private as well if the system permits it."""
_ROOM = b"size=1g,mode=0700"
_MOST_BYTES, _MOST_FILES = 256 * 2**20, 5000
"""Maximum size of a folder that is copied."""
_DEPTH = "/proc/self/fd/N/name".count("/")
_File = tuple[str, int, int, int]
"""Path, inode, size and time of change."""
_LEFT_OUT = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__"})


class Folder:
    """The folder in which the script runs."""

    def __init__(self) -> None:
        self.path = ""
        """The folder as the script sees it."""
        self.way = ""
        """How it is private: `overlay`, `copy`, or not at all."""
        self.named = False
        """Whether the system itself has the fixed host name."""
        self.own_memory = False
        """Whether shared memory is private."""
        self.shut = False
        """Whether this process is isolated, so that it can mount nothing any more."""
        self.shared = False
        """Whether copies of this process see the same folder."""
        self._options: bytes | None = None
        self._filling: Callable[[], None] = lambda: None
        self._before: frozenset[_File] = frozenset()
        self._upper = -1
        self._job: Job
        self._empty = 0
        self._deep = False

    def prepare(self) -> None:
        """Do what can be done before the folder is known."""
        with contextlib.suppress(OSError):
            self._options = system.make_private()
            import _socket

            _socket.sethostname(HOST)
            self.named = True
            with contextlib.suppress(FileExistsError):
                os.mkdir(TEMPORARY, 0o700)
            system.mount(b"tmpfs", b"tmpfs", SHARED_MEMORY.encode(), 0, _ROOM)
            self.own_memory = True

    def enter(self, job: Job) -> None:
        """Make the folder of a job's script private and go there.

        Raises:
            Changed: The script has a grant, and does not find what the user looked at.
        """
        self._job = job
        path = self.path = os.path.dirname(job.path)
        os.chdir(path)
        target = job.at or path
        if self._options is not None and target != "/":
            with contextlib.suppress(OSError):
                self._overlay(target, job.files_folder)
                self.path, self.way = target, "overlay"
                return
        with contextlib.suppress(OSError):  # no room, say
            self._copy(path, job.files_folder)
        if job.looked_at and not self.way:
            raise Changed("what was allowed it cannot be kept apart from its folder here")

    def _overlay(self, target: str, files_folder: str) -> None:
        """Mount an overlay over the current folder at `target`, and go there."""
        temporary = TEMPORARY.encode()
        system.mount(b"tmpfs", b"tmpfs", temporary, 0, _ROOM)
        try:
            lower, inside = self._lower(), self._libraries_below(target)
            libraries = os.open(self._job.libraries, os.O_PATH) if inside else -1
            if inside:
                os.makedirs(f"{TEMPORARY}/lower/{inside}", exist_ok=True)
            for name in ("upper", "work", "tmp"):
                os.mkdir(f"{TEMPORARY}/{name}")
            inner = os.open(f"{TEMPORARY}/tmp", os.O_PATH)
            upper = os.open(
                f"{files_folder}/files" if files_folder else f"{TEMPORARY}/upper", os.O_RDONLY
            )
            work = os.open(
                f"{files_folder}/work" if files_folder else f"{TEMPORARY}/work", os.O_PATH
            )
            layers = b"lowerdir=%s,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d" % (
                lower,
                upper,
                work,
            )
            options = layers + (self._options or b"")
            system.mount(b"overlay", b"overlay", os.fsencode(target), 0, options)
            for name in self._job.private:
                if os.path.lexists(f"{target}/{name}"):  # it may have gone meanwhile
                    system.call("unlink", os.fsencode(f"{target}/{name}"))
        except OSError:
            system.call("umount2", temporary, system.DETACH)
            raise
        if inside:
            place = os.fsencode(f"{target}/{inside}")
            system.mount(None, b"/proc/self/fd/%d" % libraries, place, system.BIND, b"")
            os.close(libraries)
        with contextlib.suppress(OSError):  # the overlay may lie over the folder for it
            os.mkdir(TEMPORARY, 0o700)
        system.mount(None, b"/proc/self/fd/%d" % inner, temporary, system.BIND, b"")
        os.close(inner)
        os.close(work)
        if self._upper >= 0:
            os.dup2(upper, self._upper, inheritable=False)
            os.close(upper)
        else:
            self._upper = upper
        os.chdir(target)

    def _lower(self) -> bytes:
        """What lies under the overlay: the current folder, or a copy of what was looked at."""
        if not self._job.looked_at:
            return b"."
        lower = f"{TEMPORARY}/lower"
        os.mkdir(lower)
        copy_looked_at(self._job, lower)
        return lower.encode()

    def _libraries_below(self, target: str) -> str:
        """The relative path of the environment if a copy of the folder hides it; else empty."""
        above, name = os.path.split(self._job.libraries)
        inside = os.path.relpath(f"{os.path.realpath(above)}/{name}", os.path.realpath(target))
        return inside if self._job.looked_at and name and inside[:2] != ".." else ""

    def fill(self, act: Callable[[], None]) -> None:
        """Change files in the folder, now and after each later separation from copies."""
        self._filling = act
        act()

    def begin(self) -> None:
        """Note the files that are there before the script begins to run."""
        if self._upper >= 0:
            self._before = self._written()
            self._empty = fstat(self._upper).st_size
            self._deep = any(name.count("/") > _DEPTH for name, *_ in self._before)

    def share(self) -> None:
        """Note that a copy of this process sees the same folder from now on."""
        self.shared = True

    def part(self) -> bool:
        """Separate the folder from that of the copies of this process before it is changed.

        Returns:
            Whether the copies will not see the change.
        """
        if self.shared and self.shut:
            return False
        if self.shared and self.way == "overlay":
            self.shared = False
            here = os.getcwd()
            system.call("unshare", system.NEW_FILES)
            for mounted in (TEMPORARY, self.path):
                system.call("umount2", os.fsencode(mounted), system.DETACH)
            os.chdir(self.path)
            self._overlay(self.path, "")
            self._filling()
            self.begin()
            os.chdir(here)
        return True

    def seal(self) -> None:
        """Make everything read-only for this process except its private folders."""
        if self.way == "overlay":
            with contextlib.suppress(OSError):
                system.write_protect(b"/")
                for mounted in (self.path, TEMPORARY, SHARED_MEMORY):
                    system.write_enable(os.fsencode(mounted))

    def layers(self) -> list[str]:
        """The paths under which the system shows the written files."""
        return [f"/proc/self/fd/{self._upper}"] if self._upper >= 0 else []

    def touched(self) -> bool:
        """Whether anything was written to the folder by any means."""
        return self._upper >= 0 and self._before != self._written()

    def _written(self) -> frozenset[_File]:
        return frozenset(file for layer in self.layers() for file in _files(layer))

    def wrote_shared(self) -> bool:
        """Whether something was written unnoticed while copies see the same folder."""
        if not self.shared or self._upper < 0:
            return False
        # The first write anywhere below makes an entry here, or in a folder here.
        return (fstat(self._upper).st_size != self._empty or self._deep) and self.touched()

    def _copy(self, path: str, files_folder: str) -> None:
        """Copy the folder if it is not too big; temporary files go into its parent."""
        base = f"{TEMPORARY}-{os.getpid()}"
        target = (
            f"{files_folder}/files"
            if files_folder
            else f"{base}/{os.path.basename(path) or 'root'}"
        )
        if os.path.isdir(base):  # of a run with the same number that was killed with its guard
            import shutil

            shutil.rmtree(base)
        os.mkdir(base, 0o700)
        if not files_folder:
            os.mkdir(target)
        os.environ["TMPDIR"] = base
        if self._job.looked_at:
            copy_looked_at(self._job, target)
        elif not _copy_tree(path, target, [_MOST_BYTES, _MOST_FILES], self._job.private):
            return
        self.path, self.way = target, "copy"
        os.chdir(target)


def leftover(pid: int) -> str:
    """The folder that the process `pid` may leave, which the guard removes."""
    return f"{TEMPORARY}-{pid}"


def _files(path: str) -> Iterator[_File]:
    """All files below a folder except the interpreter's cache."""
    with scandir(path) as entries:
        for entry in entries:
            if entry.name == "__pycache__":
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            else:
                info = entry.stat(follow_symlinks=False)
                yield entry.path, info.st_ino, info.st_size, info.st_mtime_ns


def _copy_tree(source: str, target: str, left: list[int], private: Collection[str] = ()) -> bool:
    """Copy a folder without some of its files; return False if it is too big."""
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
            if not target.startswith(f"{here}/") and not _left_out(here, name):
                os.mkdir(there)
                if not _copy_tree(here, there, left):
                    return False
        elif os.path.isfile(here):
            left[0] -= os.path.getsize(here)
            left[1] -= 1
            if min(left) < 0 or not _copy_file(here, there):
                return False
    return True


def _left_out(path: str, name: str) -> bool:
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
