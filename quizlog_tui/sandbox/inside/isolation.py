"""Confines a running interpreter by Landlock and a filter of system calls.

`isolate` does all of it for quiz scripts, whose process already runs outside a box: one call in the
process that is about to run the script also confines all that it forks. Runs in a box take Landlock
alone from here, where there is no bubblewrap. This module imports little, as every start of a quiz
loads it.

Calls that signal a process, or ask past Python, are referred to a supervisor outside, which allows,
refuses or notes each; see `bpf.referring`. Other calls are not referred, as a referred call can be
interrupted, which shells take for a failure of fork.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Callable, Iterable

from . import bpf

_Take = Callable[[int, dict[int, str]], None]
"""Takes the descriptor on which the supervisor receives calls, and what they reach for."""
_SECCOMP_CALL = (317, 277)
_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
"""The last one keeps signals from restarting a referred call; older kernels lack it."""
_CALLS = (b"\x0f\x05", b"\x01\x00\x00\xd4")
"""The instruction that makes a system call."""
_VDSO, _VDSO_BYTES, _LONGEST_FUNCTION = 33, 0x2000, 96


class _Places:
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


def _refer(
    call: Callable[..., int], take: _Take, places: _Places, given: Iterable[int], *, x86: bool
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
        listener = call("syscall", _SECCOMP_CALL[0 if x86 else 1], _SET_FILTER, flags, program)
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


TYPE_CHECKING = False
"""As in `typing`, which is slow to import."""
_SYSCALL_CREATE, _SYSCALL_ADD, _SYSCALL_RESTRICT = 444, 445, 446
_FILES_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}
_NEWEST_FILES = 16
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _CONTROL_DEVICE = 1 << 14, 1 << 15
_MAKE_DEVICES = 1 << 6 | 1 << 11
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _CONTROL_DEVICE
_ALL_TCP, _ALL_SCOPES = 3, 3
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_INET, _INET6 = 2, 10
_MACHINES = ("x86_64", "aarch64")
_SPARED = ("mknod", "mknodat")
"""Allowed because scripts use them to make named pipes."""
_NO_NEW_PRIVILEGES, _FILTER_IN_FORCE, _SECCOMP, _FILTER, _DROP_BOUND = 38, 21, 22, 2, 24
_CAPABILITY_VERSION = 0x20080522
_KEPT = 0b1111
"""Root's capabilities over modes and owners of files, needed to read its own scripts."""
_NETWORK_ADMIN = 1 << 12
"""The capability to bring up a private network, which reaches only itself."""
_CUTS = 3
"""The version of Landlock from which on it controls `truncate`."""
SCOPES = 6
"""The version of Landlock (Linux 6.12) from which on it restricts signals and abstract sockets."""

_functions: dict[str, int] = {}

if TYPE_CHECKING:
    from typing import Literal

    Network = Literal["real", "own", "none"]
    """The machine's network, one in a separate namespace, or no sockets at all."""
FULL, NONE = "landlock", ""
WITHOUT, SIGNALS, WITNESS = " without ", "signals", "witness"


def isolate(
    own: Iterable[str],
    readable: Iterable[str],
    *,
    network: Network,
    starts: bool = True,
    seal: Callable[[], None] = lambda: None,
    take: _Take | None = None,
    clocks: Iterable[bpf.Span] = (),
    given: Iterable[int] = (0,),
) -> str:
    """Keep this process and all that it starts from other files, programs and sockets.

    Args:
        own: Folders to read and write.
        readable: Files and folders to read and run; missing ones are skipped.
        network: The network it may use.
        starts: Whether it may start threads and processes; else only copies of itself.
        seal: Makes all but its own folders read-only if possible, as Landlock does not restrict
            changes of modes, owners and times. Called only if the process will be confined.
        take: Takes the descriptor for calls that signal a process, or ask past Python; see
            `refer`. If None, such calls are not referred.
        clocks: Code of ours that reads clocks, besides the system's own.
        given: Descriptors that copies of this process have, too.

    Returns:
        The isolation in force: `FULL`, or `NONE` if the machine offers none and nothing changed, or
        `FULL` and `WITHOUT` something: `SIGNALS` if an old kernel lets it signal programs of the
        same user, `WITNESS` if it can signal all that was forked from it, without a supervisor.

    Raises:
        OSError: The confinement is incomplete; the script must not run.
    """
    version = landlock_version()
    if version < 1:
        return NONE
    # Both may be impossible to find out later.
    permitted, places = _permitted(), _Places(clocks, x86=_is_x86())
    seal()
    _must("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    restrict(version, own, readable, devices=("/dev/tty",))
    _drop_capabilities(_NETWORK_ADMIN if network == "own" else 0, permitted)
    families = () if network == "none" else (_INET, _INET6)
    _filter(families, cut_by_name=version >= _CUTS, starts=starts)
    unavailable = [SIGNALS] if version < SCOPES else []
    if take and not _refer(_call, take, places, given, x86=_is_x86()):
        unavailable.append(WITNESS)
    return FULL + WITHOUT * bool(unavailable) + " or ".join(unavailable)


def landlock_version() -> int:
    """The version of Landlock's interface; 0 if it or the filter of system calls is missing."""
    known = sys.platform == "linux" and os.uname().machine in _MACHINES and sys.maxsize > 2**32
    if not known or _call("prctl", _FILTER_IN_FORCE, 0, 0, 0, 0) < 0:
        return 0
    return _call("syscall", _SYSCALL_CREATE, None, 0, 1)


def restrict(
    version: int,
    own: Iterable[str],
    readable: Iterable[str],
    *,
    devices: Iterable[str] = (),
    listed: Iterable[str] = (),
    tcp: bool = True,
) -> None:
    """Let this process and all that it starts reach only some files, by Landlock.

    Args:
        version: The version of Landlock.
        own: Folders to read and write.
        readable: Files and folders to read and run; missing ones are skipped.
        devices: Devices to read and write, besides those without a state.
        listed: Folders to read, but not to run from.
        tcp: Whether it may use TCP as far as a filter lets it.

    Raises:
        OSError: The kernel refused.
    """
    files = (1 << _FILES_BY_VERSION.get(version, _NEWEST_FILES)) - 1
    scopes = _ALL_SCOPES if version >= SCOPES else 0
    attributes = struct.pack("=QQQ", files, 0 if tcp else _ALL_TCP, scopes)[: 24 if scopes else 8]
    ruleset = _must("syscall", _SYSCALL_CREATE, attributes, len(attributes), 0)
    try:
        for path in readable:
            _allow(ruleset, path, _READ)
        for path in own:
            _allow(ruleset, path, files & ~(_MAKE_DEVICES | _CONTROL_DEVICE))
        for path in (*_DEVICES, *devices):
            _allow(ruleset, path, _READ_FILE | _WRITE_FILE)
        for path in listed:
            _allow(ruleset, path, _READ_FILE | _READ_DIR)
        _must("syscall", _SYSCALL_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _ON_FILES
        _must("syscall", _SYSCALL_ADD, ruleset, 1, struct.pack("=Qi", rights, fd), 0)
    finally:
        os.close(fd)


def _drop_capabilities(kept: int, permitted: int) -> None:
    kept |= _KEPT if os.geteuid() == 0 else 0
    for number in range(64):
        if not kept >> number & 1 and _call("prctl", _DROP_BOUND, number, 0, 0, 0) < 0:
            break
    kept &= permitted
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _must("capset", header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def _permitted() -> int:
    """The capabilities that the process has; the root of a container lacks some."""
    fd = os.open("/proc/self/status", os.O_RDONLY)
    try:
        _, _, rest = os.read(fd, 8192).partition(b"CapPrm:")
    finally:
        os.close(fd)
    return int(rest[: rest.index(b"\n")], 16)


def _filter(families: tuple[int, ...], *, cut_by_name: bool, starts: bool) -> None:
    kept, program = bpf.in_memory(
        bpf.program(
            x86=_is_x86(),
            own_ipc=False,
            families=families,
            spared=_SPARED,
            cut_by_name=cut_by_name,
            starts=starts,
        )
    )
    _must("prctl", _SECCOMP, _FILTER, program, 0, 0)
    del kept


def _is_x86() -> bool:
    return os.uname().machine == "x86_64"


def _call(name: str, *arguments: int | bytes | None) -> int:
    """Call a function of the C library without importing ctypes."""
    import _ctypes

    if name not in _functions:
        _functions[name] = _ctypes.dlsym(_ctypes.dlopen(None, 0), name)  # type: ignore[arg-type]
    result: int = _ctypes.call_function(_functions[name], arguments)
    return result


def _must(name: str, *arguments: int | bytes | None) -> int:
    result = _call(name, *arguments)
    if result < 0:
        raise OSError(f"{name} was refused")
    return result
