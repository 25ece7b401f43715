"""Gives the judging world a root of its own, as on another machine of another user.

Only what a script may read exists there, so that whoever asks, by whatever means, finds nothing
else. It is built on a tmpfs aside. `OtherSystem` draws that machine: its name, its system, its
users, and when it was installed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from _random import Random
from collections.abc import Iterable, Sequence

from . import system
from .fixed.other_machine import OtherMachine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .job import Job

_UBUNTU = """\
PRETTY_NAME="Ubuntu 24.04.1 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.1 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
HOME_URL="https://www.ubuntu.com/"
UBUNTU_CODENAME=noble
"""
_DEBIAN = """\
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=debian
HOME_URL="https://www.debian.org/"
"""
_FEDORA = """\
NAME="Fedora Linux"
VERSION="41 (Workstation Edition)"
ID=fedora
VERSION_ID=41
PLATFORM_ID="platform:f41"
PRETTY_NAME="Fedora Linux 41 (Workstation Edition)"
CPE_NAME="cpe:/o:fedoraproject:fedora:41"
HOME_URL="https://fedoraproject.org/"
"""
_SYSTEMS = (_UBUNTU, _DEBIAN, _FEDORA)
_VERSIONS = {_UBUNTU: "trixie/sid\n", _DEBIAN: "12.8\n"}
"""What stands in `debian_version`."""
_PEOPLE = ("anna", "ben", "clara", "david", "emma", "felix", "greta", "hugo", "ida", "jonas")
_HOSTS = ("birch", "cedar", "falcon", "heron", "juniper", "maple", "osprey", "willow")
_NO_SHELL = "/usr/sbin/nologin"
_ACCOUNTS = (
    ("root", 0, 0, "root", "/root", "/bin/bash"),
    ("daemon", 1, 1, "daemon", "/usr/sbin", _NO_SHELL),
    ("bin", 2, 2, "bin", "/bin", _NO_SHELL),
    ("mail", 8, 8, "mail", "/var/mail", _NO_SHELL),
    ("nobody", 65534, 65534, "nobody", "/nonexistent", _NO_SHELL),
)
_GROUPS = (("sudo", 27), ("users", 100))
"""Groups to which people belong."""
_INSTALLED, _DAYS = 1_710_000_000, 200
"""The first day on which it may have been installed, and how many there are."""
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


class OtherSystem:
    """A machine drawn from a seed.

    Args:
        seed: The seed of the run.
        user: The name of its user.
        number: The number of the user, and of the user's group.
        home: The user's home.
        services: Further users of the system, names and numbers; only some of them are there.
    """

    own = frozenset({"debian_version", "group", "hostname", "hosts", "os-release", "passwd"})
    """The files of `/etc` that are its own."""

    def __init__(
        self, seed: int, user: str, number: int, home: str, services: Sequence[tuple[str, int]]
    ) -> None:
        self._random = Random(seed)
        self._name = self._one(_HOSTS)
        self._release = self._one([text for text in _SYSTEMS if _family(text) != _family(_here())])
        self._people = [name for name in _PEOPLE if name != user]
        self.user, self.number, self.home = user, number, home
        self._services = services[: 3 + self._below(len(services) - 3)]
        self._day = _INSTALLED + self._below(_DAYS * 86400)

    def settings(self) -> dict[str, bytes]:
        """The texts of its own files of `/etc`."""
        texts = {
            "hostname": f"{self._name}\n",
            "hosts": f"127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.1.1\t{self._name}\n",
            "os-release": self._release,
            **self._accounts(),
        }
        if self._release in _VERSIONS:
            texts["debian_version"] = _VERSIONS[self._release]
        return {name: text.encode() for name, text in texts.items()}

    def _accounts(self) -> dict[str, str]:
        """`passwd` and `group`, in which the real number of this process has a name, too."""
        people = {self.number: (self.user, self.number, self.home)}
        if os.getuid() not in (self.number, *(number for _, number, *_ in _ACCOUNTS)):
            other = self._person()
            people[os.getuid()] = (other, os.getgid(), f"/home/{other}")
        rows = [
            *_ACCOUNTS,
            *((n, at, at, "", "/nonexistent", _NO_SHELL) for n, at in self._services),
        ]
        for uid, (name, gid, home) in sorted(people.items()):
            rows.append((name, uid, gid, name.title(), home, "/bin/bash"))
        users = [f"{n}:x:{uid}:{gid}:{who}:{home}:{sh}\n" for n, uid, gid, who, home, sh in rows]
        known = [*((n, gid) for n, _, gid, *_ in rows), *_GROUPS]
        groups = [f"{n}:x:{gid}:\n" for n, gid in sorted(known, key=lambda group: group[1])]
        if len(users) == _count("/etc/passwd"):
            users.pop(len(_ACCOUNTS))
        return {"passwd": "".join(users), "group": "".join(groups)}

    def moment(self) -> int:
        """A time at which something was installed, in nanoseconds."""
        return (self._day + self._below(86400)) * 10**9 + self._below(10**9)

    def _person(self) -> str:
        name = self._one(self._people)
        self._people.remove(name)
        return name

    def _one(self, several: list[str] | tuple[str, ...]) -> str:
        return several[self._below(len(several))]

    def _below(self, bound: int) -> int:
        return self._random.getrandbits(48) % bound


def _count(path: str) -> int:
    """The number of lines of a file; 0 if there is none."""
    try:
        with open(path, "rb") as file:
            return sum(1 for _ in file)
    except OSError:
        return 0


def _here() -> str:
    """What this machine says of its own system; empty if nothing."""
    try:
        with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _family(system: str) -> str:
    """The line with the short name of a system."""
    return next((line for line in system.splitlines() if line.startswith("ID=")), "")
