"""Gives the judging world a root of its own, as on another machine.

Only what a script may read exists there, so that whoever asks, by whatever means, finds nothing
else. It is built on a tmpfs aside.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence

from . import system
from .fixed.other_machine import OtherMachine
from .other_system import OtherSystem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .job import Job

_ROOM = b"size=16m,mode=0755"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_DEVICE_LINKS = ("/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr")
_STATE = ("/proc", "/sys")
_EMPTY = (
    "/boot", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/var/cache",
    "/var/lib", "/var/log", "/var/tmp",
)  # fmt: skip
_OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm")
_PROGRAMS = (
    "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/games", "/usr/local/bin", "/usr/local/games",
    "/usr/local/sbin", "/snap/bin",
)  # fmt: skip
"""Folders of programs, of which each machine has its own."""
_PLACES_OF_BASICS = ("/bin", "/usr/bin")
_BASICS = (
    "awk", "bash", "cat", "chmod", "cp", "cut", "date", "echo", "env", "false", "find", "grep",
    "head", "ln", "ls", "mkdir", "mv", "rm", "sed", "sh", "sleep", "sort", "tail", "test", "touch",
    "tr", "true", "uname", "wc", "which",
)  # fmt: skip
"""Programs that every machine has."""


class OtherRoot:
    """Another root for a script.

    Args:
        job: The script.
        at: An empty file system. What is in the old root at this place is not part of it.
    """

    def __init__(self, job: Job, at: str) -> None:
        self._at = at
        who = OtherMachine(job.seed)
        self._system = OtherSystem(job.seed, who.user, who.number, who.home, who.services)
        self._keeps_state = "system" not in job.changed
        self._hides_programs = "starts" in job.changed
        self._whole: dict[str, bool] = {}
        """Folders with what is in the old root at this place, or without."""
        self._made: dict[str, None] = {}
        self._links: dict[str, str] = {}
        """Where links of the old root lead; empty for what is none."""

    def build(self, visible: Sequence[str], private: Sequence[str]) -> None:
        """Build it.

        Args:
            visible: What exists there of the old root; missing ones are skipped.
            private: The script's own folders, which exist in any case.

        Raises:
            OSError: The system does not permit it.
        """
        self._make(self._at)
        settings = [path for path in visible if path.startswith("/etc/")]
        others = [path for path in visible if not path.startswith("/etc/")]
        self._lay([*private, *others, *_DEVICES, *(_STATE if self._keeps_state else ())])
        for path in _DEVICE_LINKS:
            if os.path.islink(path) and (self._keeps_state or path == "/dev/fd"):
                self._link(path, os.readlink(path))
            elif os.path.exists(path):  # it leads to `/proc`; to open it by name needs no more
                self._write(path, b"")
        self._lay_empty([*_EMPTY, *_STATE, self._system.home])
        self._furnish(settings)
        if self._hides_programs:
            self._hide_programs(private)
        self._date()

    def _furnish(self, settings: Sequence[str]) -> None:
        """Make `/etc`: files of another machine, and copies of what libraries read."""
        texts = self._system.settings()
        for path in settings:
            name = path[len("/etc/") :]
            if name in self._system.own:
                continue
            if name == "alternatives" and self._hides_programs:
                self._lay_libraries(path)
            elif os.path.islink(path) or os.path.isdir(path):
                self._lay([path])
            elif os.path.isfile(path):
                with contextlib.suppress(PermissionError):  # nor could the script read it
                    texts[name] = _contents(path)
        for name, text in texts.items():
            self._write(f"/etc/{name}", text)
        if self._is_whole("/usr/lib/os-release") and os.path.isfile("/usr/lib/os-release"):
            _bind(self._there("/etc/os-release"), self._there("/usr/lib/os-release"))

    def _lay_libraries(self, folder: str) -> None:
        """Lay only those links of a folder that lead to libraries."""
        if os.path.isdir(folder):
            self._lay([f"{folder}/{name}" for name in os.listdir(folder) if ".so" in name])

    def _hide_programs(self, private: Sequence[str]) -> None:
        """Leave only basic programs, and the interpreter."""
        hidden = [
            folder
            for folder in _PROGRAMS
            if self._is_whole(folder)
            and os.path.isdir(folder)
            and os.path.realpath(folder) == folder
            and not any(f"{path}/".startswith(f"{folder}/") for path in private)
        ]
        for folder in hidden:
            system.mount(b"tmpfs", b"tmpfs", self._there(folder), 0, _ROOM)
            self._whole[folder] = False
            self._made[folder] = None
        places = [folder for folder in hidden if folder in _PLACES_OF_BASICS]
        basics = [f"{folder}/{name}" for folder in places for name in _BASICS]
        self._lay([*basics, *_interpreters()])

    def _lay(self, paths: Iterable[str]) -> None:
        """Let paths of the old root exist here, and the links on the way to them."""
        ends = {self._followed(path): None for path in paths if os.path.exists(path)}
        for end in sorted(ends):
            if not self._is_whole(end):
                _bind(os.fsencode(end), self._place(end))
                self._whole[end] = True
        self._lay_links()

    def _lay_empty(self, folders: Iterable[str]) -> None:
        """Let folders exist here, empty unless they are here already."""
        for folder in folders:
            self._make(self._followed(folder))
        self._lay_links()

    def _lay_links(self) -> None:
        for path, target in self._links.items():
            if target and path not in self._made and not self._is_whole(path):
                self._link(path, target)

    def _followed(self, path: str) -> str:
        """Where a path leads to in the old root."""
        at, names = "", path.split("/")[::-1]
        while names:
            name = names.pop()
            if name == "..":
                at = os.path.dirname(at)
            elif name not in ("", "."):
                target = self._target(f"{at}/{name}")
                names += target.split("/")[::-1]
                at = "" if target[:1] == "/" else at if target else f"{at}/{name}"
        return at or "/"

    def _target(self, path: str) -> str:
        """Where a link leads; empty if it is none."""
        if path not in self._links:
            try:
                self._links[path] = os.readlink(path)
            except OSError:
                self._links[path] = ""
        return self._links[path]

    def _is_whole(self, path: str) -> bool:
        """Whether all that is at a path of the old root is here, too."""
        while path not in self._whole and len(path) > 1:
            path = os.path.dirname(path)
        return self._whole.get(path, False)

    def _place(self, path: str) -> bytes:
        """The empty folder or file over which a path of the old root is to be mounted."""
        if os.path.isdir(path):
            self._make(path)
        else:
            self._write(path, b"")
        return self._there(path)

    def _make(self, path: str) -> None:
        """Make a folder and those above it.

        No link leads there: it would lead into the old root.
        """
        if path in self._made or path == "/" or self._is_whole(path):
            return
        self._make(os.path.dirname(path))
        os.mkdir(self._there(path), 0o755)
        if path in _OPEN_TO_ALL:
            os.chmod(self._there(path), 0o1777)
        self._made[path] = None

    def _write(self, path: str, data: bytes) -> None:
        if self._is_whole(path):  # it would be written in the old root
            return
        self._make(os.path.dirname(path))
        file = os.open(self._there(path), os.O_WRONLY | os.O_CREAT, 0o644)
        os.write(file, data)
        os.close(file)
        self._made[path] = None

    def _link(self, path: str, target: str) -> None:
        self._make(os.path.dirname(path))
        os.symlink(target, self._there(path))
        self._made[path] = None

    def _date(self) -> None:
        """Give all that was made times as if it were installed then."""
        for path in self._made:
            moment = self._system.moment()
            if not self._is_whole(path):  # else it is a file or folder of the user
                os.utime(self._there(path), ns=(moment, moment), follow_symlinks=False)
        os.utime(self._at, ns=(self._system.moment(),) * 2)

    def _there(self, path: str) -> bytes:
        """Where a path of it is while it is built."""
        return os.fsencode(self._at + path)


def _bind(source: bytes, place: bytes) -> None:
    system.mount(None, source, place, system.BIND | system.RECURSIVE, b"")


def _interpreters() -> list[str]:
    """The paths of this interpreter's program, by all its names."""
    version = "{}.{}".format(*sys.version_info)
    paths = {sys.executable, getattr(sys, "_base_executable", sys.executable)}
    names = ("python", "python3", f"python{version}")
    return [*paths, *(f"{os.path.dirname(path)}/{name}" for path in paths for name in names)]


def _contents(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, os.fstat(file).st_size)
    finally:
        os.close(file)
