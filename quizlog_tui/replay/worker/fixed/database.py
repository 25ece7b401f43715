"""Replaces SQLite's own clock and randomness, which are C code, in every connection."""

from __future__ import annotations

from collections.abc import Callable

from .clock import VirtualClock
from .onimport import after_import
from .seeding import Entropy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DATES = ("date", "time", "datetime", "julianday", "strftime")
_LATER = {"unixepoch": (3, 38), "timediff": (3, 43)}
"""Further date functions, and the first version of SQLite that has them."""
_CURRENT = {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}


def install(entropy: Entropy, clock: VirtualClock | None) -> None:
    """Replace SQLite's functions for time and randomness.

    Args:
        entropy: The source of randomness.
        clock: The clock; None to keep the system's.
    """
    after_import({"sqlite3.dbapi2": lambda module: _fix(module, entropy, clock)})


def _fix(module: Any, entropy: Entropy, clock: VirtualClock | None) -> None:
    plain = module.connect
    functions = _chance(entropy)
    if clock is not None:
        functions += _Dates(plain, clock).functions(module.sqlite_version_info)

    def connect(*args: Any, **options: Any) -> Any:
        connection = plain(*args, **options)
        for name, count, function, deterministic in functions:
            module.Connection.create_function(
                connection, name, count, function, deterministic=deterministic
            )
        return connection

    connect.__module__, connect.__doc__ = plain.__module__, plain.__doc__
    module.connect = connect


_Function = tuple[str, int, Callable[..., object], bool]
"""Name, number of arguments (-1 for any), and whether it may be part of an index."""


def _chance(entropy: Entropy) -> list[_Function]:
    return [
        ("random", 0, lambda: entropy.bits(64) - 2**63, False),
        ("randomblob", 1, lambda size: entropy.urandom(max(size, 1)), False),
    ]


class _Dates:
    """Date functions that use the virtual clock for `now`.

    Args:
        connect: Opens a database in which SQLite itself calculates.
        clock: The virtual clock.
    """

    def __init__(self, connect: Callable[..., Any], clock: VirtualClock) -> None:
        self._connect = connect
        self._reckoner: Any = None
        self._clock = clock

    def functions(self, version: tuple[int, ...]) -> list[_Function]:
        """All date functions of this version of SQLite."""
        names = (*_DATES, *(name for name, since in _LATER.items() if version >= since))
        current = [(name, 0, self._dated(known), False) for name, known in _CURRENT.items()]
        return [*current, *((name, -1, self._dated(name), True) for name in names)]

    def _dated(self, name: str) -> Callable[..., Any]:
        """A date function that uses the virtual clock for `now`."""
        before = int(name == "strftime")  # its format

        def call(*given: Any) -> Any:
            texts = (*given, "now") if len(given) == before else given
            known = [self._now() if str(text).lower() == "now" else text for text in texts]
            return self._reckoned(name, known)

        return call

    def _now(self) -> str:
        """The present time. Does not advance the clock: it is fixed within an SQL statement."""
        given = ["%Y-%m-%d %H:%M:%f", self._clock.now / 1e9, "unixepoch"]
        return str(self._reckoned("strftime", given))

    def _reckoned(self, name: str, given: list[Any]) -> Any:
        if self._reckoner is None:  # opened late: a process with an open database cannot be copied
            self._reckoner = self._connect(":memory:", check_same_thread=False)
        places = ", ".join("?" * len(given))
        return self._reckoner.execute(f"select {name}({places})", given).fetchone()[0]
