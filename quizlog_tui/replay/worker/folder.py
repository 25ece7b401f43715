"""The script's folder as a private copy that costs nothing until it is written to.

On Linux an overlay lies over the folder, at the folder's own path, seen by this process alone and
by what it starts: reads reach the user's files, writes go to memory. Beside it, a private folder
for temporary files. Where the system permits no such thing, the folder is copied instead.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator
from os import fstat, listdir, scandir  # the originals: the script's view of `os` is patched later

from . import system
from .fixed.identity import HOST

TEMPORARY = "/tmp/quizlog"
"""Where temporary files go: a folder of each run's own, at one path for all."""
SHARED_MEMORY = "/dev/shm"
"""Its own as well, where the system permits it."""
_ROOM = b"size=1g,mode=0700"
_MOST_BYTES, _MOST_FILES = 256 * 2**20, 5000
"""A folder with more is not copied."""
_DEPTH = "/proc/self/fd/N/name".count("/")
_File = tuple[str, int, int, int]
"""Path, number, size and time of change."""
_LEFT_OUT = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__"})


class Folder:
    """Where the script runs."""

    def __init__(self) -> None:
        self.path = ""
        """The folder as the script sees it."""
        self.way = ""
        """How it is private: `overlay`, `copy`, or not at all."""
        self.named = False
        """Whether the system tells the fixed host name."""
        self.own_memory = False
        """Whether shared memory is its own."""
        self.shut = False
        """Whether this process is shut in: nobody may mount anything any more."""
        self.shared = False
        """Whether copies of this process see the same."""
        self._options: bytes | None = None
        self._filling: Callable[[], None] = lambda: None
        self._before: frozenset[_File] = frozenset()
        self._upper = -1
        self._private: Collection[str] = ()
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

    def enter(self, path: str, at: str, kept: str, private: Collection[str] = ()) -> None:
        """Make the folder private and go there.

        Args:
            path: The user's folder.
            at: Another path at which the script shall find it; empty for its own.
            kept: A folder that takes what is written; empty for memory.
            private: Names of files in the folder that the script shall not find.
        """
        os.chdir(path)
        self._private = private
        self.path = path
        if self._options is not None and (at or path) != "/":
            with contextlib.suppress(OSError):
                self._overlay(at or path, kept)
                self.path, self.way = at or path, "overlay"
                return
        with contextlib.suppress(OSError):  # no room, say
            self._copy(path, kept)

    def _overlay(self, target: str, kept: str) -> None:
        """An overlay over the current folder, seen at `target`, and go there."""
        temporary = TEMPORARY.encode()
        system.mount(b"tmpfs", b"tmpfs", temporary, 0, _ROOM)
        try:
            for name in ("upper", "work", "tmp"):
                os.mkdir(f"{TEMPORARY}/{name}")
            inner = os.open(f"{TEMPORARY}/tmp", os.O_PATH)
            upper = os.open(f"{kept}/files" if kept else f"{TEMPORARY}/upper", os.O_RDONLY)
            work = os.open(f"{kept}/work" if kept else f"{TEMPORARY}/work", os.O_PATH)
            layers = b"lowerdir=.,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d" % (
                upper,
                work,
            )
            options = layers + (self._options or b"")
            system.mount(b"overlay", b"overlay", os.fsencode(target), 0, options)
            for name in self._private:
                if os.path.lexists(f"{target}/{name}"):  # it may have gone meanwhile
                    system.call("unlink", os.fsencode(f"{target}/{name}"))
        except OSError:
            system.call("umount2", temporary, system.DETACH)
            raise
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

    def fill(self, act: Callable[[], None]) -> None:
        """Put files there that the script finds besides, now and wherever it is parted later."""
        self._filling = act
        act()

    def begin(self) -> None:
        """From now on the script runs: what lies there already was not written by it."""
        if self._upper >= 0:
            self._before = self._written()
            self._empty = fstat(self._upper).st_size
            self._deep = any(name.count("/") > _DEPTH for name, *_ in self._before)

    def share(self) -> None:
        """From now on a copy of this process sees the same folder."""
        self.shared = True

    def part(self) -> bool:
        """Something is about to be changed: not for the copies of this process.

        Returns:
            Whether they will not see it.
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
        """Make all that this process sees read-only, but for what is its own."""
        if self.way == "overlay":
            with contextlib.suppress(OSError):
                system.write_protect(b"/")
                for mounted in (self.path, TEMPORARY, SHARED_MEMORY):
                    system.write_enable(os.fsencode(mounted))

    def layers(self) -> list[str]:
        """Where the system tells what was written to it."""
        return [f"/proc/self/fd/{self._upper}"] if self._upper >= 0 else []

    def touched(self) -> bool:
        """Whether anything was written to it, by whatever means."""
        return self._upper >= 0 and self._before != self._written()

    def _written(self) -> frozenset[_File]:
        return frozenset(file for layer in self.layers() for file in _files(layer))

    def strayed(self) -> bool:
        """Whether somebody wrote into it unseen, while copies of this process see the same."""
        if not self.shared or self._upper < 0:
            return False
        # The first thing that is written anywhere below makes an entry here, or in a folder here.
        return (fstat(self._upper).st_size != self._empty or self._deep) and self.touched()

    def _copy(self, path: str, kept: str) -> None:
        """Copy the folder, if it is not too big; temporary files go beside it."""
        base = f"{TEMPORARY}-{os.getpid()}"
        target = f"{kept}/files" if kept else f"{base}/{os.path.basename(path) or 'root'}"
        if os.path.isdir(base):  # of a run with the same number that was killed with its guard
            import shutil

            shutil.rmtree(base)
        os.mkdir(base, 0o700)
        if not kept:
            os.mkdir(target)
        os.environ["TMPDIR"] = base
        if _copy_tree(path, target, [_MOST_BYTES, _MOST_FILES], self._private):
            self.path, self.way = target, "copy"
            os.chdir(target)


def leftover(pid: int) -> str:
    """What the process `pid` may leave behind, for the guard to remove."""
    return f"{TEMPORARY}-{pid}"


def _files(path: str) -> Iterator[_File]:
    """All files below a folder; the interpreter's own cache does not count."""
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
    """Copy a folder without some of its files; False as soon as it is more than is left."""
    for name in listdir(source):
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
    """Whether a folder is none of the script's: versions, environments, caches."""
    return name in _LEFT_OUT or os.path.exists(f"{path}/pyvenv.cfg")


def _copy_file(source: str, target: str) -> bool:
    """Copy a file, sharing its blocks where the file system can; whether it could be read."""
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
    """Copy within the system as far as it can; the next bytes that have to be written by hand."""
    with contextlib.suppress(OSError, AttributeError):
        while os.copy_file_range(reading, writing, 1 << 26):
            pass
    return os.read(reading, 1 << 20)
