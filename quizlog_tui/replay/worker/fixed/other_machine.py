"""Another machine, its user and another time of day, drawn from the seed: as real ones have them.

A script must not recognise that its conditions were changed on purpose, so nothing here is marked
or always the same, and whatever belongs together agrees. As a script may know its seed and this
text, the draws of the machine also follow from a number that it cannot read. All that a date shows
of the other time is other than in the first.
"""

from __future__ import annotations

import os
from _random import Random
from collections.abc import Collection, Sequence
from time import gmtime  # the original: the script's view of `time` is patched later

from .identity import c_library_version

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")
_UNREADABLE = "/proc/sys/kernel/random/boot_id"
"""A random number of the system, the same until it is started again."""
_NAMES = (
    "adam", "alex", "alice", "amir", "anita", "anna", "ben", "bruno", "carla", "chen", "clara",
    "dana", "david", "elena", "emil", "emma", "eric", "eva", "felix", "fiona", "georg", "hana",
    "helen", "ines", "ivan", "jan", "julia", "karin", "kofi", "laura", "leo", "lin", "lucas",
    "maria", "mark", "mei", "mina", "nina", "noah", "olga", "omar", "paula", "peter", "priya",
    "rosa", "sam", "sara", "simon", "sofia", "thomas", "tim", "victor", "wei", "yuki", "zoe",
)  # fmt: skip
_ZONES = (
    "America/Bogota", "America/Chicago", "America/New_York", "America/Sao_Paulo", "Asia/Jakarta",
    "Asia/Kathmandu", "Asia/Kolkata", "Asia/Seoul", "Asia/Shanghai", "Asia/Tokyo",
    "Australia/Sydney", "Europe/Athens", "Europe/Berlin", "Europe/Madrid", "Europe/Paris",
    "Europe/Rome", "Europe/Warsaw", "Pacific/Auckland",
)  # fmt: skip
"""Time zones that are never the same as UTC."""
_LANGUAGES = (
    "de_DE.UTF-8", "en_AU.UTF-8", "en_GB.UTF-8", "en_US.UTF-8", "es_ES.UTF-8", "fr_FR.UTF-8",
    "it_IT.UTF-8", "ja_JP.UTF-8", "ko_KR.UTF-8", "nl_NL.UTF-8", "pl_PL.UTF-8", "pt_BR.UTF-8",
)  # fmt: skip
_TERMINALS = (
    (100, 30), (104, 33), (120, 30), (120, 40), (127, 36), (132, 43), (142, 41), (158, 45),
    (160, 48), (190, 52), (204, 54), (211, 57), (237, 63),
)  # fmt: skip
_SYSTEMS = (
    ("5.10.0-28-amd64", "#1 SMP Debian 5.10.209-2 (2024-01-31)", "2.31"),
    ("6.1.0-18-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)", "2.36"),
    ("6.1.0-25-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.106-3 (2024-08-26)", "2.36"),
    ("5.15.0-91-generic", "#101-Ubuntu SMP Tue Nov 14 13:30:08 UTC 2023", "2.35"),
    ("5.15.0-122-generic", "#132-Ubuntu SMP Thu Aug 29 13:45:52 UTC 2024", "2.35"),
    (
        "6.5.0-28-generic",
        "#29~22.04.1-Ubuntu SMP PREEMPT_DYNAMIC Thu Apr  4 14:39:20 UTC 2",
        "2.35",
    ),
    ("6.8.0-45-generic", "#45-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug 30 12:02:04 UTC 2024", "2.39"),
    ("6.6.9-200.fc39.x86_64", "#1 SMP PREEMPT_DYNAMIC Mon Jan  1 20:11:19 UTC 2024", "2.38"),
    ("6.8.5-301.fc40.x86_64", "#1 SMP PREEMPT_DYNAMIC Thu Apr 11 20:00:10 UTC 2024", "2.39"),
)
"""Releases of Linux, each with its version as `uname` shows it, and the C library beside it."""
_KINDS = {"aarch64": (("amd64", "arm64"), ("x86_64", "aarch64"))}
"""What other kinds of machines are called in releases."""
_PROCESSORS = (2, 4, 6, 8, 10, 12, 16, 20, 24, 32)
_GIGABYTES = (4, 8, 16, 24, 32, 64)
_OWN_FOLDERS = (".local/bin", "bin", ".cargo/bin", "go/bin", ".npm-global/bin")
_OPEN_FILES = ((1024, 1048576), (1024, 524288), (8192, 65536), (2048, 4096), (1024, 2048))
_FOLDERS = ("course", "downloads", "exam", "homework", "practice", "questions", "school", "tests")
_SERVICES = (
    ("avahi", 108), ("colord", 121), ("dnsmasq", 112), ("geoclue", 119), ("landscape", 113),
    ("mosquitto", 126), ("mysql", 127), ("pollinate", 107), ("postfix", 114), ("postgres", 128),
    ("redis", 129), ("rtkit", 115), ("saned", 120), ("sssd", 123), ("tcpdump", 109), ("tss", 106),
    ("usbmux", 116), ("whoopsie", 117),
)  # fmt: skip
_LEFT = {
    "notes.txt": "ask again on friday\n\n- second part is too long\n- check the numbers\n",
    "todo.txt": "1. read it once more\n2. clean up\n3. send it\n",
    "ideas.txt": "shorter questions\nmore hints\nan easy one first\n",
    "results.txt": "12 of 20\n15 of 20\n17 of 20\n",
    "old.txt": "see the new one\n",
    "list.txt": "apples\nbread\ncoffee\nmilk\n",
}
_LEFT_BESIDE = {
    "draft.md": "# Draft\n\nNot finished yet.\n",
    "notes.md": "# Notes\n\n- first try: too slow\n",
    "backup.csv": "name,points\nanna,12\nben,15\n",
    "results.csv": "date,right,wrong\n2024-03-02,12,8\n2024-03-09,15,5\n",
    "settings.json": '{"volume": 3, "dark": true}\n',
    "scores.json": '{"anna": 12, "ben": 15}\n',
}
"""Names of files that people leave in their folders, and what may be in them."""


class OtherMachine:
    """What a script finds elsewhere; never what it finds here.

    Args:
        seed: The seed of the script.
    """

    def __init__(self, seed: int) -> None:
        self._draw = Random()
        # Python 3.9 draws others if this is given to the constructor.
        self._draw.seed((abs(seed) * 2 + (seed < 0)) << 128 | _unreadable())
        self.user = self._one(_NAMES, {os.path.basename(os.environ.get("HOME", ""))})
        self.home = f"/home/{self.user}"
        self.number = self._one(range(1000, 1020), {os.getuid(), os.getgid()})
        """The number of the user and of the user's group."""
        self.groups = self._one(((self.number,), (100, self.number), (27, self.number)))
        self.zone = self._one(_ZONES)
        self.language = self._one(_LANGUAGES)
        self.terminal = self._one(_TERMINALS)
        self.process = self._one(range(2100, 60000))
        self.release, self.version, self.c_library = self._system()
        self.processors = self._one(_PROCESSORS, {os.cpu_count()})
        self.pages, self.free_pages = self._memory()
        self.own_folder = f"{self.home}/{self._one(_OWN_FOLDERS)}"
        self.environment = self._one((".venv", "env", "py", "python", "venv"))
        """The name of the folder with its libraries."""
        self.mask = self._one((0o002, 0o022, 0o027), {_mask()})
        self.open_files = self._some(_OPEN_FILES)
        """Soft and hard limits, the first of which that is permitted holds."""
        self.stacks = self._some((10 * 2**20, 2**24, 2**25, 2**26))
        """Bytes of its stack, the first of which that are permitted and not those here hold."""
        self.folders = self._some(_FOLDERS)
        """Names of folders with somebody's work."""
        self.services = self._some(_SERVICES)
        """Users beside the usual ones: names and numbers."""
        self.left = [self._some(list(names.items())) for names in (_LEFT, _LEFT_BESIDE)]
        """Files that may lie in a folder, of which the first that does not is there: names and
        contents."""

    def _one(self, choices: Sequence[T], here: Collection[object] = ()) -> T:
        """One of the choices that is not what is here."""
        while (choice := choices[self._draw.getrandbits(32) % len(choices)]) in here:
            pass
        return choice

    def _some(self, choices: Sequence[T]) -> list[T]:
        """The choices in another order."""
        order = sorted((self._draw.getrandbits(32), at) for at in range(len(choices)))
        return [choices[at] for _, at in order]

    def _system(self) -> tuple[str, str, str]:
        here, own = os.uname(), c_library_version()
        known = [
            (_spelled(release, here.machine), version, library)
            for release, version, library in _SYSTEMS
            if version != here.version and library != own
        ]
        return self._one(known)

    def _memory(self) -> tuple[int, int]:
        """Pages of memory, without those that the system itself keeps, and free ones."""
        of_gigabyte = 2**30 // os.sysconf("SC_PAGESIZE")
        size = self._one(_GIGABYTES)
        pages = size * of_gigabyte - self._draw.getrandbits(16) - size * of_gigabyte // 40
        return pages, pages * (20 + self._draw.getrandbits(5)) // 100


def _unreadable() -> int:
    try:
        with open(_UNREADABLE) as file:
            return int(file.read().replace("-", ""), 16)
    except (OSError, ValueError):
        return 1


def _spelled(release: str, machine: str) -> str:
    """A release as it is called on this kind of machine."""
    for usual, here in _KINDS.get(machine, ()):
        release = release.replace(usual, here)
    return release


def _mask() -> int:
    """The modes that new files do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_DAY, _SHORTEST, _YEARS = 86_400, 900, 1_800
"""Seconds of a day, and days by which a time is earlier: at least, and at most beyond that."""
_STEP = _DAY + 3661
"""Seconds after which day, weekday, hour, minute and second are others."""


def drawn(seed: int, turn: int = 0) -> int:
    """A number of 62 bits that follows from a seed, without the imports of `random`."""
    mixed = (seed * 2 + 1) * 0x9E3779B97F4A7C15 + turn * 0xD1B54A32D192ED03
    for _ in range(2):
        mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9 % 2**64
    return mixed >> 2


def earlier(than: int, seed: int) -> int:
    """A time some years before another one, in seconds; after it if that was before 1970."""
    turn = 0
    while True:
        days, seconds = divmod(drawn(seed, turn), _DAY)
        back = (_SHORTEST + days % _YEARS) * _DAY + seconds
        at = than - back if than >= back else than + back
        if unlike(at, than):
            return at
        turn += 1


def hidden(start: int, now: int, seed: int) -> int:
    """The time that shall pass for the real one where the clocks start at `start`.

    As little after it as possible, as if the record were just made; but always in the past, and
    such that whoever shows a part of it shows another than now.
    """
    return next(
        (at for at in range(start, now, _STEP) if unlike(at, now)),
        earlier(now, seed),
    )


def unlike(one: int, other: int) -> bool:
    """Whether two times differ in year, month, day, hour, minute, second and weekday."""
    return all(a != b for a, b in zip(gmtime(one)[:7], gmtime(other)[:7]))
