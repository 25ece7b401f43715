"""Refers calls that signal a process, or ask past Python, to a supervisor outside.

It allows, refuses or notes each; see `bpf.referring`. Other calls are not referred, as a referred
call can be interrupted, which shells take for a failure of fork. This module imports little, as
every start of a quiz loads it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from . import bpf

Take = Callable[[int, dict[int, str]], None]
"""Takes the descriptor on which the supervisor receives calls, and what they reach for."""
_SECCOMP = (317, 277)
_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
"""The last one keeps signals from restarting a referred call; older kernels lack it."""
_CALLS = (b"\x0f\x05", b"\x01\x00\x00\xd4")
"""The instruction that makes a system call."""
_VDSO, _VDSO_BYTES, _LONGEST_FUNCTION = 33, 0x2000, 96


class Places:
    """Addresses of calls in this process, to be found before it is confined.

    Args:
        clocks: Code of ours that reads clocks.
        x86: For x86-64, else for aarch64.
    """

    def __init__(self, clocks: Iterable[bpf.Span], *, x86: bool) -> None:
        systems = _clocks()
        self.clocks = (systems, *clocks) if systems else ()
        """The code that reads the clocks, mostly without a call; none if it is not known."""
        self.by_number = _by_number(_CALLS[0 if x86 else 1])
        """What follows the call of a number in the C library's function; 0 if not known."""


def refer(
    call: Callable[..., int], take: Take, places: Places, given: Iterable[int], *, x86: bool
) -> bool:
    """From now on, refer such calls of this process and of all that it starts.

    Args:
        call: Calls a function of the C library.
        take: Takes the descriptor, which is closed afterwards.
        places: The addresses of calls in this process.
        given: Descriptors that copies of this process have, too.
        x86: For x86-64, else for aarch64.

    Returns:
        Whether the system allows it; it does not if there is a supervisor already, for example.
    """
    steps = bpf.referring(x86=x86, clocks=places.clocks, by_number=places.by_number, given=given)
    kept, program = bpf.in_memory(steps)
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        listener = call("syscall", _SECCOMP[0 if x86 else 1], _SET_FILTER, flags, program)
        if listener >= 0:
            take(listener, bpf.reached(x86=x86))
            os.close(listener)
            break
    del kept
    return listener >= 0


def _clocks() -> bpf.Span | None:
    """Start and end of the code that the kernel puts into each process."""
    words = _content("/proc/self/auxv", 0, 4096)
    pairs = (words[at : at + 16] for at in range(0, len(words), 16))
    for pair in pairs:
        if int.from_bytes(pair[:8], "little") == _VDSO:
            start = int.from_bytes(pair[8:], "little")
            return start, start + _VDSO_BYTES
    return None


def _by_number(instruction: bytes) -> int:
    import _ctypes

    start: int = _ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall")  # type: ignore[arg-type]
    at = _content("/proc/self/mem", start, _LONGEST_FUNCTION).find(instruction)
    return start + at + len(instruction) if at >= 0 else 0


def _content(path: str, at: int, size: int) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.pread(fd, size, at)
    except OSError:
        return b""
    finally:
        os.close(fd)
