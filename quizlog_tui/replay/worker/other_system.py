"""Another machine, of another user: its name, its system, its users, and when it was installed."""

from __future__ import annotations

import os
from _random import Random
from collections.abc import Sequence

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
