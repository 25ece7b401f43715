"""Other times of day that look like real ones: all that a date shows is other than in the first."""

from __future__ import annotations

from time import gmtime  # the original: the script's view of `time` is patched later

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
