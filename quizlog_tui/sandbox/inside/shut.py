"""Confines a running interpreter, for quiz scripts, whose process already runs outside a box.

One call in the process that is about to run the script also confines all that it forks. This module
imports little, as every start of a quiz loads it.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Callable, Iterable

from . import bpf
from .refer import Places, Take, refer

TYPE_CHECKING = False
"""As in `typing`, which is slow to import."""
_SYSCALL_CREATE, _SYSCALL_ADD, _SYSCALL_RESTRICT = 444, 445, 446
_FILES_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}
_NEWEST_FILES = 16
_READ = 1 | 4 | 8
_NO_OWN = 1 << 6 | 1 << 11 | 1 << 15
"""Rights never granted: making devices and controlling them."""
_ON_FILES = 1 | 2 | 4 | 1 << 14 | 1 << 15
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
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
_CUTS, _SCOPES = 3, 6
"""Versions of Landlock from which on it controls `truncate`, and restricts signals."""

_functions: dict[str, int] = {}

if TYPE_CHECKING:
    from typing import Literal

    Network = Literal["real", "own", "none"]
    """The machine's network, one in a separate namespace, or no sockets at all."""
FULL, NONE = "landlock", ""
WITHOUT, SIGNALS, WITNESS = " without ", "signals", "witness"


def shut(
    own: Iterable[str],
    readable: Iterable[str],
    *,
    network: Network,
    starts: bool = True,
    seal: Callable[[], None] = lambda: None,
    take: Take | None = None,
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
    version = _version()
    if version < 1:
        return NONE
    # Both may be impossible to find out later.
    permitted, places = _permitted(), Places(clocks, x86=_is_x86())
    seal()
    _must("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _restrict(version, own, readable)
    _drop_capabilities(_NETWORK_ADMIN if network == "own" else 0, permitted)
    families = () if network == "none" else (_INET, _INET6)
    _filter(families, cut_by_name=version >= _CUTS, starts=starts)
    unavailable = [SIGNALS] if version < _SCOPES else []
    if take and not refer(_call, take, places, given, x86=_is_x86()):
        unavailable.append(WITNESS)
    return FULL + WITHOUT * bool(unavailable) + " or ".join(unavailable)


def _version() -> int:
    """The version of Landlock; 0 if it or the filter of system calls is missing."""
    known = sys.platform == "linux" and os.uname().machine in _MACHINES and sys.maxsize > 2**32
    if not known or _call("prctl", _FILTER_IN_FORCE, 0, 0, 0, 0) < 0:
        return 0
    return _call("syscall", _SYSCALL_CREATE, None, 0, 1)


def _restrict(version: int, own: Iterable[str], readable: Iterable[str]) -> None:
    files = (1 << _FILES_BY_VERSION.get(version, _NEWEST_FILES)) - 1
    scopes = 3 if version >= _SCOPES else 0
    # The network needs no rule: the filter blocks any but a private one.
    attributes = struct.pack("=QQQ", files, 0, scopes)[: 24 if scopes else 8]
    ruleset = _must("syscall", _SYSCALL_CREATE, attributes, len(attributes), 0)
    try:
        for path in readable:
            _allow(ruleset, path, _READ)
        for path in own:
            _allow(ruleset, path, files & ~_NO_OWN)
        for path in _DEVICES:
            _allow(ruleset, path, 2 | 4)
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
