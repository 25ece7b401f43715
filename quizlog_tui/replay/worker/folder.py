"""Makes the script's folder private, at no cost until something is written to it.

On Linux an overlay is mounted over the folder at the same path, which only this process and its
children see: reads reach the user's files, writes go to memory. Temporary files get a private
folder too. If the system does not permit an overlay, the folder is copied instead.

A script with a grant finds only what the user looked at: the overlay lies over a copy of that.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from os import close, fstat, scandir, stat  # the originals: they are patched later
from os import open as open_fd

from . import system
from .fixed.identity import HOST
from .folder_content import (
    Changed,
    change_leftovers,
    copy_looked_at,
    copy_tree,
    make_leftover_layer,
)
from .job import Job

TEMPORARY = "/tmp/quizlog"
"""The folder for temporary files: private to each run, at the same path for all."""
SHARED_MEMORY = "/dev/shm"
"""The folder of shared memory, private as well if the system permits it."""
ROOMS = ("/srv", "/media", "/mnt", "/opt")
"""Folders of the root that are empty on most machines."""
_ROOM = b"size=1g,mode=0700"
_AS_FOLDER = getattr(os, "O_DIRECTORY", 0) | os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
_SKIPPED = 40
"""How many numbers of files are left out at most."""
_TURNED = 7
"""What tells that times of files were turned."""
_File = tuple[str, int, int, int]
"""Path, inode, size and time of change."""


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
        self.isolated = False
        """Whether this process is isolated, so that it can mount nothing any more."""
        self.shared = False
        """Whether copies of this process see the same folder."""
        self.turned = False
        """Whether times of files sort the other way round."""
        self._options: bytes | None = None
        self._before: frozenset[_File] = frozenset()
        self._upper = -1
        self._job: Job
        self._empty: list[int] = []
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
                if not os.path.isdir(target):
                    make_place(target)
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
            lower, inside = self._left() + self._lower(), self._libraries_below(target)
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
        """What lies under the overlay: the current folder, or a copy of what was looked at.

        If metadata are changed, a copy lies over the current folder.
        """
        looked_at, other = self._job.looked_at, "metadata" in self._job.changed
        if not looked_at and not other:
            return b"."
        lower = f"{TEMPORARY}/lower"
        os.mkdir(lower)
        for _ in range(1 + self._job.seed % _SKIPPED if other else 0):  # uses up numbers
            os.mkdir(f"{lower}/0")
            os.rmdir(f"{lower}/0")
        if looked_at:
            copy_looked_at(self._job, lower)
        if other:
            self.turned = system.aside(lambda: self._change_metadata(lower)) == _TURNED
        return lower.encode() + (b"" if looked_at else b":.")

    def _change_metadata(self, lower: str) -> int:
        from .other_metadata import OtherMetadata

        metadata = OtherMetadata(self._job)
        turned = metadata.turn(lower) if self._job.looked_at else metadata.copy(lower)
        return _TURNED if turned else 0

    def _left(self) -> bytes:
        """What lies above it if leftover files are changed."""
        if "leftovers" not in self._job.changed:
            return b""
        layer = f"{TEMPORARY}/left"
        make_leftover_layer(self._job, layer)
        return f"{layer}:".encode()

    def _libraries_below(self, target: str) -> str:
        """The relative path of the environment if a copy of the folder hides it; else empty."""
        above, name = os.path.split(self._job.libraries)
        inside = os.path.relpath(f"{os.path.realpath(above)}/{name}", os.path.realpath(target))
        return inside if self._job.looked_at and name and inside[:2] != ".." else ""

    def begin(self) -> None:
        """Note the files that are there before the script begins to run."""
        if self._upper >= 0:
            self._before = self._written()
            self._empty = self._sizes()
            self._deep = any("/" in name for name, *_ in self._before)

    def forget_changes(self) -> None:
        """Forget what tells a script that its conditions were changed; nothing is mounted later."""
        self.turned = False
        if self.isolated:
            self._job.forget_changes()

    def share(self) -> None:
        """Note that a copy of this process sees the same folder from now on."""
        self.shared = True

    def part(self) -> bool:
        """Separate the folder from that of the copies of this process before it is changed.

        Returns:
            Whether the copies will not see the change.
        """
        if self.shared and self.isolated:
            return False
        if self.shared and self.way == "overlay":
            self.shared = False
            here = os.getcwd()
            system.call("unshare", system.NEW_FILES)
            for mounted in (TEMPORARY, self.path):
                system.call("umount2", os.fsencode(mounted), system.DETACH)
            os.chdir(self.path)
            self._overlay(self.path, "")
            self.begin()
            os.chdir(here)
        return True

    def seal(self, visible: Iterable[str]) -> None:
        """Make everything read-only for this process except its private folders.

        Args:
            visible: What it may read, which is all that exists where the machine is changed.
        """
        if self.way == "overlay":
            if "real-files" not in self._job.asked:
                self._change_machine(visible)
            with contextlib.suppress(OSError):
                system.write_protect(b"/")
                for mounted in (self.path, TEMPORARY, SHARED_MEMORY):
                    system.write_enable(os.fsencode(mounted))

    def _change_machine(self, visible: Iterable[str]) -> None:
        """Change what else exists than the folder, if that is a condition."""
        if "home" in self._job.changed and self.own_memory:
            with contextlib.suppress(OSError):
                self._enter_other_root([*visible])
                return
        for place in (b"/proc", b"/sys") if "system" in self._job.changed else ():
            with contextlib.suppress(OSError):
                system.mount(b"tmpfs", b"tmpfs", place, 0, b"mode=0555")

    def _enter_other_root(self, visible: list[str]) -> None:
        """Change the root of this process to one that is built at a place that is private by now.

        The old root stays mounted, as the system takes long to unmount one. No path leads there
        from the folder for what is written, as that is mounted below the new root, under another.
        """
        here, shared = os.getcwd(), os.open(SHARED_MEMORY, os.O_PATH)
        system.mount(b"tmpfs", b"tmpfs", SHARED_MEMORY.encode(), 0, b"size=16m,mode=0755")
        try:
            if system.aside(lambda: self._build_other_root(visible)):
                raise OSError("it was not built")
            there = SHARED_MEMORY * 2
            _mount_again(self._upper, there)
            inside = os.open(there, os.O_RDONLY)
            _mount_again(shared, there)
            os.chroot(SHARED_MEMORY)
        except OSError:
            system.call("umount2", SHARED_MEMORY.encode(), system.DETACH)
            raise
        finally:
            os.close(shared)
        os.dup2(inside, self._upper, inheritable=False)
        os.close(inside)
        os.chdir(here)

    def _build_other_root(self, visible: list[str]) -> int:
        from .other_root import OtherRoot

        OtherRoot(self._job, SHARED_MEMORY).build(visible, (self.path, TEMPORARY))
        return 0

    def layers(self) -> Iterator[str]:
        """The paths under which the system shows the written files, each only until the next."""
        if self._upper >= 0:
            here = os.open(".", os.O_PATH)
            os.fchdir(self._upper)
            yield "."
            os.fchdir(here)
            os.close(here)

    def given(self) -> list[int]:
        """Descriptors that copies of this process have, too."""
        return [0, *([self._upper] if self._upper >= 0 else [])]

    def touched(self) -> bool:
        """Whether anything was written to the folder by any means."""
        return self._upper >= 0 and self._before != self._written()

    def _written(self) -> frozenset[_File]:
        found = [*_files(self._upper, "")]
        for place in self._places():
            folder = open_fd(place, _AS_FOLDER)
            try:
                found += _files(folder, f"{place}/")
            finally:
                close(folder)
        return frozenset(found)

    def wrote_shared(self) -> bool:
        """Whether something was written unnoticed while copies see the same folder."""
        if not self.shared or self._upper < 0:
            return False
        # The first write anywhere below makes an entry here, or in a folder here.
        return (self._sizes() != self._empty or self._deep) and self.touched()

    def _sizes(self) -> list[int]:
        """Sizes of the folders to which a run can write, which change with their entries."""
        return [fstat(self._upper).st_size, *(stat(place).st_size for place in self._places())]

    def _places(self) -> list[str]:
        """Private folders beside the script's own, which copies of this process see as well."""
        return [TEMPORARY, *([SHARED_MEMORY] if self.own_memory else [])]

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
        else:
            if not copy_tree(path, target, private=self._job.private):
                return
        if "leftovers" in self._job.changed:
            change_leftovers(self._job, target)
        self.path, self.way = target, "copy"
        os.chdir(target)


def make_place(path: str) -> None:
    """Make a folder that only this process sees, below one of the root that is empty.

    Raises:
        OSError: The system does not permit it.
    """
    top = os.fsencode(path[: path.index("/", 1)])
    system.mount(b"tmpfs", b"tmpfs", top, 0, b"size=1m,mode=0755")
    os.makedirs(path)


def leftover(pid: int) -> str:
    """The folder that the process `pid` may leave, which the guard removes."""
    return f"{TEMPORARY}-{pid}"


def _mount_again(folder: int, place: str) -> None:
    """Mount a folder that is open at another place, too."""
    system.mount(None, b"/proc/self/fd/%d" % folder, place.encode(), system.BIND, b"")


def _files(folder: int, above: str) -> Iterator[_File]:
    """All files below a folder except the interpreter's cache.

    Args:
        folder: A descriptor of it, as no path may lead there.
        above: The path of the folder, which ends with a slash unless it is empty.
    """
    with scandir(folder) as entries:
        for entry in entries:
            if entry.name == "__pycache__":
                continue
            if entry.is_dir(follow_symlinks=False):
                inner = open_fd(entry.name, _AS_FOLDER, dir_fd=folder)
                try:
                    yield from _files(inner, f"{above}{entry.name}/")
                finally:
                    close(inner)
            else:
                info = entry.stat(follow_symlinks=False)
                yield above + entry.name, info.st_ino, info.st_size, info.st_mtime_ns
