"""The filter of system calls: refuses those that escapes use and quiz answers do not need.

The program is classic BPF for `seccomp`, built from names so that it can be read and tested. It
checks the architecture first: a 32-bit call on a 64-bit machine kills the process. Numbers newer
than the table are "not implemented", so that the C library falls back to older, filtered calls.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Each row: x86-64 number, aarch64 number (None if the call does not exist there).
DENIED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "personality": (135, 92),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "get_mempolicy": (239, 236),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "set_mempolicy_home_node": (450, 450),
    # Pages of a memory file are mapped nowhere, so that no limit and no sum counts them.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    # The same holds for a segment that was filled and then detached.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "vhangup": (153, 58),
    "lookup_dcookie": (212, 18),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
}
"""Refused with EPERM."""
SHARED_IPC: dict[str, tuple[int | None, int | None]] = {
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
}  # fmt: skip
"""Also refused if the process has no separate IPC namespace."""
NEWEST_KNOWN = 452
_SIGNALS = ((62, 129), (200, 130), (234, 131), (129, 138), (297, 240))
"""`kill`, `tkill`, `tgkill`, `rt_sigqueueinfo`, `rt_tgsigqueueinfo`: all name the process first."""
SIGNAL, PROCESS = "signal", "process"
MEMORY, NETWORK, LOCKS, GIVEN = "memory", "network", "locks", "given"
CLOCK, SYSTEM, RAW, HELD = "clock", "system", "raw", "held"
"""What a referred call reaches for: another process, to signal it or to ask for it; what copies of
the process would share; what the fixed world cannot fix, the locks that others hold among it; and
whatever a call past Python and the C library asks."""
CUT_BY_NAME = (76, 45)
"""`truncate`, which Landlock does not control before its third version."""

_ARCH = (0xC000003E, 0xC00000B7)
_CLONE, _CLONE3, _IOCTL, _SOCKET = (56, 220), (435, 435), (16, 29), (41, 198)
_FORKS = ((57, None), (58, None))
"""`fork` and `vfork`; besides them only `clone` makes processes, as `clone3` is refused."""
_SHARING, _BESIDE = 0x00014100, 0x8000
"""Flags of `clone`: shared memory, as for threads; and a child of the caller's parent."""
_PAIR, _PRLIMIT = (53, 199), (302, 261)
_SCHEDULES = ((203, 122), (144, 119), (142, 118), (314, 274))
"""Calls that set processors and scheduling of the process in the first argument; 0 is itself."""
_PRIORITIES = (((141, 140), 0), ((251, 30), 1))
"""`setpriority` and `ioprio_set`, which name it in the second argument, each with the value of the
first one that means a process: other values mean a group, or all processes of the user."""
_BY_HANDLE, _CONTROL = (424, 424), (72, 25)
"""`pidfd_send_signal` and `fcntl`."""
_OWNERS = ((_CONTROL, (8, 15)), (_IOCTL, (0x8901, 0x8902)))
"""Calls that name another process to be signalled when data can be read."""
_MAP, _LOCK = (9, 222), (73, 32)
"""`mmap` and `flock`."""
_SHARED, _LOCKING, _SEEKING_LOCKS = 1, (6, 7, 37, 38), (5, 36)
"""The flag of `mmap` for shared memory, and the requests of `fcntl` that lock parts of a file, and
that ask whether another process does."""
_SET_FLAGS, _NOT_BLOCKING = (4, 10, 1031), (0x5421, 0x5452)
"""Requests of `fcntl` and `ioctl` that change what all see who have a descriptor."""
_ASKED = ((121, 155), (124, 156), (143, 121), (145, 120), (148, 127), (204, 123), (434, 434))
_PRIORITY = (140, 141)
"""Calls that ask for a process, 0 for the caller: `getpgid`, `getsid`, those about scheduling and
`pidfd_open` in the first argument; `getpriority` in the second one."""
_OPTIONS, _OF_PEERS = ((55, 209), (54, 208)), (16, 17, 59, 76, 77)
"""`getsockopt` and `setsockopt`, and the options that name the process at the other end."""
_CLOCKS = ((228, 113), (96, 169), (201, None))
"""`clock_gettime`, `gettimeofday` and `time`, which the C library answers without a call."""
_OWN_CLOCKS = (2, 3)
"""The clocks of `clock_gettime` that count a process's or a thread's own work."""
_USE = ((98, 165), (100, 153))
"""`getrusage` and `times`."""
_QUIET = (
    *((56, 220), (202, 98), (186, 178), (318, 278), (324, 283), (217, 61)),
    *((436, 436), (326, 285)),
)
"""What Python and libraries call by number: `clone` (copies of this process), `futex`, `gettid`,
`getrandom`, `membarrier`, `getdents64`, `close_range`, `copy_file_range`."""
_CLONE_NEW = 0x7E020000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_UNIX, _INET, _INET6, _NO_STREAMS = 1, 2, 10, 2 | 4
_LOAD, _JUMP_EQ, _JUMP_GE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _CALLER = 0, 4, 8
_ARGUMENT_0, _ARGUMENT_1, _ARGUMENT_2, _ARGUMENT_3 = 16, 24, 32, 40
_ALLOW, _KILL, _ERRNO, _REFER = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000


Span = tuple[int, int]
"""The first address of code, and the one after its last."""
# A step is (code, value, jump if true, jump if false), a tuple because every quiz start builds it.
Step = tuple[int, int, int, int]


def program(
    *,
    x86: bool,
    own_ipc: bool,
    families: tuple[int, ...],
    spared: tuple[str, ...] = (),
    cut_by_name: bool = True,
    starts: bool = True,
) -> bytes:
    """The filter in the kernel's format.

    Args:
        x86: For x86-64, else for aarch64.
        own_ipc: The process has a separate namespace for System V IPC, and may use it.
        families: Numbers of the allowed socket families.
        spared: Names in `DENIED` that are allowed nevertheless.
        cut_by_name: Whether `truncate` is allowed.
        starts: Whether threads and processes may be started; else only copies of the process that
            are children of its parent.
    """
    column = 0 if x86 else 1
    denied = DENIED if own_ipc else DENIED | SHARED_IPC
    steps = [
        (_LOAD, _ARCHITECTURE, 0, 0),
        (_JUMP_EQ, _ARCH[column], 1, 0),
        (_RETURN, _KILL, 0, 0),
        (_LOAD, _NUMBER, 0, 0),
        (_JUMP_GE, NEWEST_KNOWN + 1, 0, 1),
        (_RETURN, _ERRNO | errno.ENOSYS, 0, 0),
        *_refuse(_CLONE3[column], errno.ENOSYS),
    ]
    for name, numbers in denied.items():
        number = numbers[column]
        if number is not None and name not in spared:
            steps += _refuse(number, errno.EPERM)
    if not cut_by_name:
        steps += _refuse(CUT_BY_NAME[column], errno.EPERM)
    if not starts:
        steps += _refuse_to_start(column)
    steps += _by_argument(column, families)
    steps.append((_RETURN, _ALLOW, 0, 0))
    return _assembled(steps)


def referring(
    *, x86: bool, clocks: Iterable[Span] = (), by_number: int = 0, given: Iterable[int] = (0,)
) -> bytes:
    """The filter that refers calls to a supervisor outside, which allows, refuses or notes them.

    These are calls that signal a process, that reach what copies of this process share, and that
    ask for what the fixed world cannot fix. It refuses calls whose target a supervisor could not
    determine.

    Args:
        x86: For x86-64, else for aarch64.
        clocks: The code from which clocks may be read; none: from anywhere.
        by_number: The address after the C library's call of a number that its caller chose; 0 if
            it is not known.
        given: Descriptors that copies of this process have, too.
    """
    column = 0 if x86 else 1
    signals = [step for numbers in _SIGNALS for step in _refer(numbers[column])]
    steps = [(_LOAD, _NUMBER, 0, 0), *signals]
    steps += _refuse(_BY_HANDLE[column], errno.EPERM)
    for call, requests in _OWNERS:
        refused = [step for request in requests for step in _refuse(request, errno.EPERM)]
        steps += _when(call[column], _ARGUMENT_1, refused)
    steps += _refer_processes(column) + _refer_shared(column)
    steps += [step for descriptor in given for step in _refer_given(column, descriptor)]
    steps += _refer_unfixed(column, clocks) + _refer_by_number(column, by_number)
    steps.append((_RETURN, _ALLOW, 0, 0))
    return _assembled(steps)


def reached(*, x86: bool) -> dict[int, str]:
    """What the referred calls reach for, by their numbers or `by_request`; the others are `RAW`."""
    column = 0 if x86 else 1
    kinds = {SIGNAL: _SIGNALS, PROCESS: (*_ASKED, _PRIORITY), CLOCK: _CLOCKS, HELD: (_LOCK,)}
    kinds |= {MEMORY: (_MAP,), NETWORK: (_SOCKET,), LOCKS: (_CONTROL,), GIVEN: (_IOCTL,)}
    kinds |= {SYSTEM: (*_USE, *_OPTIONS)}
    found = {n: kind for kind, calls in kinds.items() for call in calls if (n := call[column])}
    asking = dict.fromkeys(_SEEKING_LOCKS, HELD) | dict.fromkeys(_SET_FLAGS, GIVEN)
    return found | {by_request(_CONTROL[column], one): kind for one, kind in asking.items()}


def by_request(number: int, request: int) -> int:
    """The key of a call whose second argument says what it reaches for; see `reached`."""
    return number | request << 32


def _refer(value: int) -> list[Step]:
    return [(_JUMP_EQ, value, 0, 1), (_RETURN, _REFER, 0, 0)]


def _refer_shared(column: int) -> list[Step]:
    """Steps for calls that reach what copies of the process share."""
    locking = [step for request in (*_LOCKING, *_SEEKING_LOCKS) for step in _refer(request)]
    return [
        *_when(_MAP[column], _ARGUMENT_3, [(_JUMP_SET, _SHARED, 0, 1), (_RETURN, _REFER, 0, 0)]),
        *_when(_SOCKET[column], _ARGUMENT_0, [*_refer(_INET), *_refer(_INET6)]),
        *_refer(_LOCK[column]),
        *_when(_CONTROL[column], _ARGUMENT_1, locking),
    ]


def _refer_processes(column: int) -> list[Step]:
    """Steps for calls that ask for another process, or for the one at the other end."""
    named = [(_JUMP_EQ, 0, 1, 0), (_RETURN, _REFER, 0, 0)]
    steps = [s for call in _ASKED for s in _when(call[column], _ARGUMENT_0, named)]
    steps += _when(_PRIORITY[column], _ARGUMENT_1, named)
    of_peers = [step for option in _OF_PEERS for step in _refer(option)]
    return steps + [s for call in _OPTIONS for s in _when(call[column], _ARGUMENT_2, of_peers)]


def _refer_given(column: int, descriptor: int) -> list[Step]:
    """Steps for calls that change what copies of the process see of a descriptor."""
    steps = []
    for call, requests in ((_CONTROL, _SET_FLAGS), (_IOCTL, _NOT_BLOCKING)):
        changing = [step for request in requests for step in _refer(request)]
        skip = (_JUMP_EQ, descriptor, 0, len(changing) + 1)
        steps += _when(call[column], _ARGUMENT_0, [skip, (_LOAD, _ARGUMENT_1, 0, 0), *changing])
    return steps


def _refer_unfixed(column: int, clocks: Iterable[Span]) -> list[Step]:
    """Steps for calls that ask for the time past the fixed clock, or for the use of resources."""
    steps = [step for numbers in _USE for step in _refer(numbers[column])]
    elsewhere = _refer_elsewhere([(low, high) for low, high in clocks if low >> 32 == high >> 32])
    for index, numbers in enumerate(_CLOCKS):
        if elsewhere and (number := numbers[column]):
            own = _OWN_CLOCKS if index == 0 else ()
            spared = [(_JUMP_EQ, clock, len(elsewhere) + left, 0) for left, clock in _left(own)]
            steps += _when(number, _ARGUMENT_0, [*spared, *elsewhere])
    return steps


def _refer_elsewhere(spans: list[Span]) -> list[Step]:
    """Steps that refer a call from any other code; none if no code is known."""
    steps: list[Step] = [(_RETURN, _REFER, 0, 0)] if spans else []
    for low, high in spans:
        within = [
            *((_LOAD, _CALLER + 4, 0, 0), (_JUMP_EQ, low >> 32, 0, 3), (_LOAD, _CALLER, 0, 0)),
            (_JUMP_GE, low & 0xFFFFFFFF, 0, 1),
            (_JUMP_GE, high & 0xFFFFFFFF, 0, len(steps)),
        ]
        steps = [*within, *steps]
    return steps


def _left(values: tuple[int, ...]) -> list[tuple[int, int]]:
    """Values, each with the number of those that follow."""
    return [(len(values) - at - 1, value) for at, value in enumerate(values)]


def _refer_by_number(column: int, caller: int) -> list[Step]:
    """Steps for calls of a number by the function of the C library for that."""
    if not caller:
        return []
    quiet = tuple(numbers[column] for numbers in _QUIET)
    spared = [(_JUMP_EQ, number, left + 1, 0) for left, number in _left(quiet)]
    chosen = [(_LOAD, _NUMBER, 0, 0), *spared, (_RETURN, _REFER, 0, 0)]
    return [
        *((_LOAD, _CALLER, 0, 0), (_JUMP_EQ, caller & 0xFFFFFFFF, 0, len(chosen) + 2)),
        *((_LOAD, _CALLER + 4, 0, 0), (_JUMP_EQ, caller >> 32, 0, len(chosen))),
        *chosen,
    ]


def _assembled(steps: list[Step]) -> bytes:
    return b"".join(struct.pack("=HBBI", code, yes, no, k) for code, k, yes, no in steps)


def in_memory(program: bytes) -> tuple[Any, bytes]:
    """A filter for the kernel: the object to keep alive, and the structure pointing to it."""
    from array import array

    code = array("B", program)
    address, length = code.buffer_info()
    return code, struct.pack("@HP", length // 8, address)


def _refuse(number: int, code: int) -> list[Step]:
    return [(_JUMP_EQ, number, 0, 1), (_RETURN, _ERRNO | code, 0, 0)]


def _refuse_to_start(column: int) -> list[Step]:
    steps = [step for call in _FORKS if (n := call[column]) for step in _refuse(n, errno.EAGAIN)]
    none = (_RETURN, _ERRNO | errno.EAGAIN, 0, 0)
    beside = [(_JUMP_SET, _SHARING, 1, 0), (_JUMP_SET, _BESIDE, 1, 0), none]
    return steps + _when(_CLONE[column], _ARGUMENT_0, beside)


def _by_argument(column: int, families: tuple[int, ...]) -> list[Step]:
    """Steps for calls that depend on an argument; as in the kernel, only its low 32 bits count."""
    refuse = (_RETURN, _ERRNO | errno.EPERM, 0, 0)
    left = range(len(families), 0, -1)
    known = [(_JUMP_EQ, family, jump, 0) for family, jump in zip(families, left)]
    # Of a pair, what is no stream can be connected to a named socket, or tells the time.
    paired = () if _UNIX in families else ((_JUMP_SET, _NO_STREAMS, 0, 1), refuse)
    return [
        *_when(_CLONE[column], _ARGUMENT_0, [(_JUMP_SET, _CLONE_NEW, 0, 1), refuse]),
        *_when(
            _SOCKET[column],
            _ARGUMENT_0,
            [*known, (_RETURN, _ERRNO | errno.EAFNOSUPPORT, 0, 0)],
        ),
        *_when(_PAIR[column], _ARGUMENT_1, [*paired]),
        *_when(
            _IOCTL[column],
            _ARGUMENT_1,
            [*_refuse(_TIOCSTI, errno.EPERM), *_refuse(_TIOCLINUX, errno.EPERM)],
        ),
        *_when(_PRLIMIT[column], _ARGUMENT_0, [(_JUMP_EQ, 0, 1, 0), refuse]),
        *[
            step
            for number, argument, value in _own_schedule(column)
            for step in _when(number, argument, [(_JUMP_EQ, value, 1, 0), refuse])
        ],
    ]


def _own_schedule(column: int) -> Iterator[tuple[int, int, int]]:
    """Calls that must name the caller itself: number, argument, and its required value."""
    for numbers in _SCHEDULES:
        yield numbers[column], _ARGUMENT_0, 0
    for numbers, process in _PRIORITIES:
        yield numbers[column], _ARGUMENT_0, process
        yield numbers[column], _ARGUMENT_1, 0


def _when(number: int, argument: int, steps: list[Step]) -> list[Step]:
    """Steps for one call with an argument loaded; afterwards the number is loaded again."""
    body = [(_LOAD, argument, 0, 0), *steps, (_LOAD, _NUMBER, 0, 0)]
    return [(_JUMP_EQ, number, 0, len(body)), *body]
