"""Virtual clocks, which start at the record's start time and advance only when they are read.

`sleep` advances them and returns at once, unless something may happen meanwhile: threads, child
processes, a timer. The standard library's own waiting (for a thread, a lock, a process) keeps the
real clock, or a time-out would never come. Event loops wait for no clock at all.

Nor do event loops read an answer unasked. Descriptor 0 always seems ready, as whoever reads it
stops at a question until there is an answer. A loop that reads ahead would ask what the script does
not. So it hears of that descriptor only if its reader is waited for, or, where that cannot be
known, if there is nothing else to be done.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import time

from ..standard_input import gives_answers
from .onimport import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


TYPE_CHECKING = False

_MONOTONIC = 1_000_000_000_000
_PROCESS = 50_000_000
_OF_PROCESS = (2, 3)
"""Numbers of the clocks that count the time for which this process, or thread, has worked."""
_CHILDREN = -1
"""The number of ended children for `getrusage`."""
_WHOM = ((0,), (_CHILDREN,), (1,))
"""The arguments that `getrusage` may have: this process, ended children, this thread."""
_MEMORY = (16_384, 4_096)
"""The memory that a script has needed at most, in kilobytes, and in pages that it was given."""
_WAITERS = frozenset(
    {"threading", "queue", "subprocess", "selectors", "concurrent", "multiprocessing", "socket"}
    | {"socketserver", "signal"}
)
"""Modules of the standard library that wait for something other than the clock."""


class VirtualClock:
    """All clocks of the run, in nanoseconds.

    Args:
        start: Start, in nanoseconds since the epoch.
        tick: Nanoseconds by which each reading advances the clocks.
    """

    def __init__(self, start: int, tick: int) -> None:
        self.start = self.now = start
        self.tick = tick

    def read(self) -> int:
        self.now += self.tick
        return self.now

    def elapsed(self) -> int:
        return self.read() - self.start

    def advance(self, seconds: float) -> None:
        self.now += max(0, int(seconds * 1e9))


def install(clock: VirtualClock) -> None:
    """Replace all functions that return the time."""
    _install_readings(clock)
    _install_dates(clock)
    _install_waiting(clock)
    after_import({"datetime": lambda module: _fix_datetime(module, clock)})


def _put(**functions: Any) -> None:
    for name, function in functions.items():
        if hasattr(time, name):
            function.__name__ = function.__qualname__ = name
            function.__module__ = "time"
            setattr(time, name, function)


def _install_readings(clock: VirtualClock) -> None:
    real, frame = time.monotonic, sys._getframe

    def monotonic() -> float:
        if frame(1).f_globals.get("__name__", "").partition(".")[0] in _WAITERS:
            return real()
        return (_MONOTONIC + clock.elapsed()) / 1e9

    def by_number(number: int) -> int:
        if number == time.CLOCK_REALTIME:
            return clock.read()
        return (_PROCESS if number in _OF_PROCESS else _MONOTONIC) + clock.elapsed()

    _put(
        time=lambda: clock.read() / 1e9,
        time_ns=lambda: clock.read(),
        monotonic=monotonic,
        monotonic_ns=lambda: _MONOTONIC + clock.elapsed(),
        perf_counter=lambda: (_MONOTONIC + clock.elapsed()) / 1e9,
        perf_counter_ns=lambda: _MONOTONIC + clock.elapsed(),
        process_time=lambda: (_PROCESS + clock.elapsed()) / 1e9,
        process_time_ns=lambda: _PROCESS + clock.elapsed(),
        thread_time=lambda: (_PROCESS + clock.elapsed()) / 1e9,
        thread_time_ns=lambda: _PROCESS + clock.elapsed(),
        clock_gettime=lambda number: by_number(number) / 1e9,
        clock_gettime_ns=by_number,
    )

    _install_usage(time.process_time, time.perf_counter)


def _install_usage(cpu: Any, elapsed: Any) -> None:
    """Replace what returns the use of time together with other things, which are fixed, too."""

    def times() -> Any:
        return os.times_result((cpu(), 0.0, 0.0, 0.0, elapsed()))

    def install_getrusage(module: Any) -> None:
        result = module.struct_rusage

        def getrusage(real: Any, *who: int) -> Any:
            # The real one would be seen from outside as a question about the system's state.
            if who not in _WHOM or type(who[0]) is not int:
                real(*who)
            used = 0.0 if who[0] == _CHILDREN else cpu()
            return result((used, *_usage(*who)))

        _put_around(module, "getrusage", getrusage)

    def wait(real: Any, *args: Any) -> Any:
        pid, status, found = real(*args)
        return pid, status, type(found)((0.0, *_usage(_CHILDREN)))

    if hasattr(os, "times"):
        os.times = times
    for name in ("wait3", "wait4"):
        if hasattr(os, name):
            _put_around(os, name, wait)
    after_import({"resource": install_getrusage})


def _usage(who: int) -> tuple[Any, ...]:
    """All but the first field of the resources that this process or its children used."""
    known = (0, 0) if who == _CHILDREN else _MEMORY
    return (0.0, known[0], 0, 0, 0, known[1], *[0] * 9)


def _put_around(module: Any, name: str, function: Any) -> None:
    real = getattr(module, name)

    def call(*args: Any) -> Any:
        return function(real, *args)

    call.__name__ = call.__qualname__ = name
    setattr(module, name, call)


def _install_dates(clock: VirtualClock) -> None:
    localtime, gmtime, strftime = time.localtime, time.gmtime, time.strftime
    ctime, asctime = time.ctime, time.asctime

    def seconds(given: float | None) -> float:
        return clock.read() / 1e9 if given is None else given

    _put(
        localtime=lambda secs=None: localtime(seconds(secs)),
        gmtime=lambda secs=None: gmtime(seconds(secs)),
        ctime=lambda secs=None: ctime(seconds(secs)),
        asctime=lambda t=None: asctime(localtime(seconds(None)) if t is None else t),
        strftime=lambda pattern, t=None: strftime(
            pattern, localtime(seconds(None)) if t is None else t
        ),
    )


def _install_waiting(clock: VirtualClock) -> None:
    real = time.sleep

    def sleep(secs: Any, /) -> None:
        if not isinstance(secs, (int, float)) or secs < 0 or worth_waiting():
            real(secs)
        clock.advance(secs)

    _put(sleep=sleep)


_itimer = __import__("_signal").getitimer


def worth_waiting() -> bool:
    """Whether something may happen while this thread waits."""
    if _thread._count() or _itimer(0)[0]:
        return True
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _fix_datetime(module: Any, clock: VirtualClock) -> None:
    """Replace `now` and `utcnow` in the type itself: a subclass would show. `today` uses `time`."""

    def now(cls: Any, tz: Any = None) -> Any:
        return cls.fromtimestamp(clock.read() / 1e9, tz)

    def utcnow(cls: Any) -> Any:
        if sys.version_info >= (3, 12):
            import warnings

            text = (
                "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future "
                "version. Use timezone-aware objects to represent datetimes in UTC: "
                "datetime.datetime.now(datetime.UTC)."
            )
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        return cls.fromtimestamp(clock.read() / 1e9, module.timezone.utc).replace(tzinfo=None)

    members: Any = gc.get_referents(module.datetime.__dict__)[0]
    for function in (now, utcnow):
        function.__qualname__ = f"datetime.{function.__name__}"
        members[function.__name__] = classmethod(function)
    getattr(sys, "_clear_internal_caches", sys._clear_type_cache)()


_BUSY = 1000
"""Number of turns in which a loop finds nothing to do but does not wait: it asks for answers."""


def install_in_loops(clock: VirtualClock | None) -> None:
    """Change how event loops wait.

    Args:
        clock: The virtual clock, if there is one.
    """
    after_import({"select": _fix_polls, "selectors": lambda module: _fix_selectors(module, clock)})


def _fix_polls(module: Any) -> None:
    """Let descriptor 0 be one with data, not only one whose other end is closed."""
    kinds = [type(module.poll()), getattr(module, "epoll", None)]
    for kind in filter(None, kinds):
        members: Any = gc.get_referents(vars(kind))[0]
        members["poll"] = _telling_of_data(members["poll"], module.POLLIN, module.POLLHUP)
    getattr(sys, "_clear_internal_caches", sys._clear_type_cache)()


def _telling_of_data(plain: Any, data: int, closed: int) -> Any:
    def poll(self: Any, *args: Any, **options: Any) -> Any:
        return [
            (fd, data | closed if event == closed and gives_answers(fd) else event)
            for fd, event in plain(self, *args, **options)
        ]

    poll.__qualname__ = plain.__qualname__
    return poll


def _fix_selectors(module: Any, clock: VirtualClock | None) -> None:
    kinds = (module.BaseSelector, *_below(module.BaseSelector))
    for kind in {kind for kind in kinds if "select" in vars(kind)} - {module.BaseSelector}:
        kind.select = _patient(kind.select, clock)


def _below(kind: type) -> list[type]:
    children: list[type] = kind.__subclasses__()
    return [one for child in children for one in (child, *_below(child))]


def _patient(plain: Any, clock: VirtualClock | None) -> Any:
    frame, idle = sys._getframe, 0

    def timed(self: Any, timeout: float | None) -> Any:
        if clock is None or not timeout or timeout < 0:
            return plain(self, timeout)
        # First whether anybody may still do something, then whether somebody did.
        events = plain(self, timeout if worth_waiting() else 0)
        if not events:
            clock.advance(timeout)
        return events

    def select(self: Any, timeout: float | None = None) -> Any:
        nonlocal idle
        if not frame(1).f_globals.get("__name__", "").startswith("asyncio."):
            return plain(self, timeout)
        key: Any = getattr(self, "_fd_to_key", {}).get(0)
        wanted = key is None or not gives_answers(0) or _is_waited_for(key.data)
        if wanted:
            return timed(self, timeout)
        events = plain(self, 0)
        others = [event for event in events if event[0] is not key]
        idle = 0 if others else idle + 1
        if others or (timeout == 0 and idle < _BUSY):
            return others
        if wanted is None:
            return events
        self.unregister(0)
        try:
            return timed(self, timeout)
        finally:
            self.register(0, key.events, key.data)

    return select


def _is_waited_for(data: Any) -> bool | None:
    """Whether what reads a descriptor is waited for; None if only its own code could tell."""
    reading = getattr(data[0], "_callback", None)
    protocol: Any = getattr(getattr(reading, "__self__", None), "_protocol", None)
    if not hasattr(protocol, "_stream_reader"):
        return None
    reader = protocol._stream_reader
    return reader is not None and reader._waiter is not None
