"""Overwrites functions in the memory of the process above this one, which is as this one was.

Written there through `/proc`, code need not be made writable, not even for a moment.

The functions that are put there tell other times and file numbers, in machine code. Each takes the
place of a function of the C library or of the kernel's own library (vDSO), does its system call
itself, and changes the result by constants. It may be called at any moment, by a thread that does
not know the interpreter. Times are in the past, which never makes a caller wait.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import time

from ..job import Job
from .native import MACHINE, jump
from .other_machine import drawn, hidden

_FAIL = "483d01f0ffff 7217 f7d8 50 48b8{errno} ffd0 59 8908 4883c8ff c3"
# cmp rax, -4095; jb over; neg eax; push rax; mov rax, ERRNO; call rax; pop rcx; mov [rax], ecx;
# or rax, -1; ret; over:
_STAT = f"""0f05 {_FAIL} 48b9{{seconds}} 48294a48 48294a58 48294a68
    48837a0810 7208 48814208{{more}} c3"""
# syscall; FAIL; mov rcx, SECONDS; sub [rdx+72], rcx; sub [rdx+88], rcx; sub [rdx+104], rcx;
# cmp qword [rdx+8], 16; jb over; add qword [rdx+8], MORE; over: ret
_SET_TIMES = f"""4883ec28 4885d2 7426 48b9{{seconds}} 0f1002 0f110424 0f104210 0f11442410
    48010c24 48014c2410 4889e2 b818010000 0f05 4883c428 {_FAIL} c3"""
# sub rsp, 40; test rdx, rdx; je over; mov rcx, SECONDS; movups xmm0, [rdx]; movups [rsp], xmm0;
# movups xmm0, [rdx+16]; movups [rsp+16], xmm0; add [rsp], rcx; add [rsp+16], rcx; mov rdx, rsp;
# over: mov eax, 280; syscall; add rsp, 40; FAIL; ret
_WAIT = """4883ec18 48b9{seconds} 48030e 48890c24 488b4e08 48894c2408 4889e2 31f6
    48b8{real} ffd0 4883c418 c3"""
# sub rsp, 24; mov rcx, SECONDS; add rcx, [rsi]; mov [rsp], rcx; mov rcx, [rsi+8];
# mov [rsp+8], rcx; mov rdx, rsp; xor esi, esi; mov rax, REAL; call rax; add rsp, 24; ret

CLOCKS = {
    # mov eax, 228; syscall; test eax, eax; jne over; cmp edi, 11; ja over; mov ecx, 0x921;
    # bt ecx, edi (the clock of the day?); jnc over; mov rcx, SECONDS; sub [rsi], rcx; over: ret
    "__vdso_clock_gettime": "b8e4000000 0f05 85c0 751c 83ff0b 7717 b921090000 0fa3f9 730d "
    "48b9{seconds} 48290e c3",
    # mov eax, 96; syscall; test eax, eax; jne over; test rdi, rdi; je over; mov rcx, SECONDS;
    # sub [rdi], rcx; over: ret
    "__vdso_gettimeofday": "b860000000 0f05 85c0 7512 4885ff 740d 48b9{seconds} 48290f c3",
    # mov rdx, rdi; xor edi, edi; mov eax, 201; syscall; mov rcx, SECONDS; sub rax, rcx;
    # test rdx, rdx; je over; mov [rdx], rax; over: ret
    "__vdso_time": "4889fa 31ff b8c9000000 0f05 48b9{seconds} 4829c8 4885d2 7403 488902 c3",
    # mov eax, 229; syscall; ret
    "__vdso_clock_getres": "b8e5000000 0f05 c3",
    # mov eax, 100; syscall; mov rcx, TICKS; add rax, rcx; test rdi, rdi; je over;
    # add qword [rdi], 100; add qword [rdi+8], 100; over: ret
    "times": "b864000000 0f05 48b9{ticks} 4801c8 4885ff 7409 48830764 4883470864 c3",
    "sem_timedwait": _WAIT,
    "pthread_mutex_timedlock": _WAIT,
    # sub rsp, 24; mov rax, [rdx]; mov rcx, [rdx+8]; mov [rsp+8], rcx; mov edx, 1; cmp rax, YEARS;
    # jl over; dec edx; mov rcx, SECONDS; add rax, rcx; over: mov [rsp], rax; mov rcx, rsp;
    # mov rax, REAL; call rax; add rsp, 24; ret
    "pthread_cond_timedwait": "4883ec18 488b02 488b4a08 48894c2408 ba01000000 483d00000018 7c0f "
    "ffca 48b9{seconds} 4801c8 48890424 4889e1 48b8{real} ffd0 4883c418 c3",
    # mov r10, rcx; sub rsp, 24; test esi, 1 (is it no duration?); je over; mov rax, [rdx];
    # cmp rax, YEARS; jl over; mov rcx, [rdx+8]; mov [rsp+8], rcx; mov rcx, SECONDS; add rax, rcx;
    # mov [rsp], rax; mov rdx, rsp; over: mov eax, 230; syscall; add rsp, 24; neg eax; ret
    "clock_nanosleep": "4989ca 4883ec18 f7c601000000 7428 488b02 483d00000018 7c1d 488b4a08 "
    "48894c2408 48b9{seconds} 4801c8 48890424 4889e2 b8e6000000 0f05 4883c418 f7d8 c3",
    # mov r10, rcx; sub rsp, 40; test esi, 1; je over; mov rax, [rdx+16]; cmp rax, YEARS; jl over;
    # movups xmm0, [rdx]; movups [rsp], xmm0; mov rcx, [rdx+24]; mov [rsp+24], rcx;
    # mov rcx, SECONDS; add rax, rcx; mov [rsp+16], rax; mov rdx, rsp; over: mov eax, 286; syscall;
    # add rsp, 40; FAIL; ret
    "timerfd_settime": "4989ca 4883ec28 f7c601000000 7431 488b4210 483d00000018 7c25 0f1002 "
    "0f110424 488b4a18 48894c2418 48b9{seconds} 4801c8 4889442410 4889e2 b81e010000 0f05 4883c428 "
    f"{_FAIL} c3",
}
"""Functions that tell a clock or are told one, also in the kernel's own library (vDSO). No machine
runs for as many YEARS as those until which one waits by the time of day."""
WAITS = {
    "sem_timedwait": "sem_clockwait",
    "pthread_mutex_timedlock": "pthread_mutex_clocklock",
    "pthread_cond_timedwait": "pthread_cond_clockwait",
}
"""Functions that wait until a moment, and those that do so by a clock that one may choose."""
FILES = {
    # mov rdx, rsi; mov eax, 4 (5, 6)
    "stat": f"4889f2 b804000000 {_STAT}",
    "fstat": f"4889f2 b805000000 {_STAT}",
    "lstat": f"4889f2 b806000000 {_STAT}",
    # mov r10d, ecx; mov eax, 262
    "fstatat": f"4189ca b806010000 {_STAT}",
    # As older programs call it, with a version first: mov rdi, rsi; mov rsi, rdx; mov eax, 4 (5, 6)
    "__xstat": f"4889f7 4889d6 b804000000 {_STAT}",
    "__fxstat": f"4889f7 4889d6 b805000000 {_STAT}",
    "__lxstat": f"4889f7 4889d6 b806000000 {_STAT}",
    # mov edi, esi; mov rsi, rdx; mov rdx, rcx; mov r10d, r8d; mov eax, 262
    "__fxstatat": f"89f7 4889d6 4889ca 4589c2 b806010000 {_STAT}",
    # mov r10d, ecx; mov eax, 332; syscall; FAIL; mov rcx, SECONDS; sub [r8+64], rcx;
    # sub [r8+96], rcx; sub [r8+112], rcx; test byte [r8+1], 8 (is its birth known?); je over;
    # sub [r8+80], rcx; over: cmp qword [r8+32], 16; jb end; add qword [r8+32], MORE; end: ret
    "statx": f"4189ca b84c010000 0f05 {_FAIL} 48b9{{seconds}} 49294840 49294860 49294870 "
    "41f6400108 7404 49294850 4983782010 7208 49814020{more} c3",
    # mov eax, 217; syscall; FAIL; lea r8, [rsi+rax]; next: cmp rsi, r8; jae end;
    # cmp qword [rsi], 16; jb over; add qword [rsi], MORE; over: movzx ecx, word [rsi+16];
    # add rsi, rcx; jmp next; end: ret
    "getdents64": f"b8d9000000 0f05 {_FAIL} 4c8d0406 4c39c6 7316 48833e10 7207 488106{{more}} "
    "0fb74e10 4801ce ebe5 c3",
    # What sets times is told times of the same kind: mov r10d, ecx
    "utimensat": f"4189ca {_SET_TIMES}",
    # mov rdx, rsi; xor esi, esi; xor r10d, r10d
    "futimens": f"4889f2 31f6 4531d2 {_SET_TIMES}",
}
"""Functions that tell times and numbers of files, or set times. Numbers below 16 are the same
everywhere, as are those of the roots of file systems, and stay."""
STATE = {
    # mov eax, 99; syscall; FAIL; shr qword [rdi+8] (and 16, 24: loads; 32, 40: memory); ret
    "sysinfo": f"b863000000 0f05 {_FAIL} 48d16f08 48d16f10 48d16f18 48d16f20 48d16f28 c3",
    # mov eax, 98; syscall; FAIL; inc qword [rsi]; inc qword [rsi+16]; shl qword [rsi+32]; ret
    "getrusage": f"b862000000 0f05 {_FAIL} 48ff06 48ff4610 48d16620 c3",
}
"""Functions that tell the state of the machine and of this process."""
_EMPTY = """48bf{start} 48be{length} ba01000000 41ba32000000 49c7c0ffffffff 4531c9
    b809000000 0f05"""


# mov rdi, START; mov rsi, LENGTH; mov edx, 1; mov r10d, 0x32; mov r8, -1; xor r9d, r9d; mov eax, 9;
# syscall (mmap, private, of nothing, exactly there)


def shifted(code: str, *, seconds: int, ticks: int, more: int, errno: int, real: int = 0) -> bytes:
    """The code of a function.

    Args:
        code: A value of the tables above.
        seconds: What is taken from times of day.
        ticks: What is added to the age of the machine, in hundredths of a second.
        more: What is added to numbers of files.
        errno: The address of `__errno_location`.
        real: The address of the function that waits.
    """
    words = {"seconds": seconds, "ticks": ticks, "errno": errno, "real": real}
    parts = {name: _word(word) for name, word in words.items()}
    return bytes.fromhex(code.format_map({**parts, "more": more.to_bytes(4, "little").hex()}))


def empty(places: Iterable[tuple[int, int]]) -> bytes:
    """Code that puts empty pages in place of others.

    The kernel's library finds no clock there, and asks the kernel.

    Args:
        places: Starts and lengths.
    """
    pages = b"".join(
        bytes.fromhex(_EMPTY.format(start=_word(start), length=_word(length)))
        for start, length in places
    )
    return pages + b"\xc3"  # ret


def _word(number: int) -> str:
    return number.to_bytes(8, "little").hex()


_CODES = {"libraries": CLOCKS, "metadata": FILES, "system": STATE}
"""What takes the place of functions, by the condition that is changed."""


class Overwriting:
    """Overwrites the functions that the changed conditions of a job concern.

    Args:
        memory: A descriptor of the memory of the process above.
        room: Where there is room for code.
        job: The job.
        ticks: Hundredths of a second by which the machine shall have been running longer.

    Raises:
        OSError: The system does not permit it, or is not of the known kind.
    """

    def __init__(self, memory: int, room: range, job: Job, ticks: int) -> None:
        if os.uname().machine != MACHINE:
            raise OSError("not on this machine")
        self._memory, self._room, self._job = memory, room, job
        now = int(time())
        self.seconds = now - hidden(job.start // 10**9, now, job.seed)
        """What is taken from times of day."""
        self._address = _addresses()
        self._values = {
            "seconds": self.seconds,
            "ticks": ticks,
            "more": 2 * (drawn(job.seed) % 500) + 1,
            "errno": self._address("__errno_location"),
        }
        self._put(empty(_kernels_data()))

    def done(self, condition: str) -> bool:
        """Overwrite the functions of a condition if it is changed; return whether that was done."""
        if condition not in self._job.changed:
            return False
        with contextlib.suppress(OSError):
            for at, code in dict(self._functions(_CODES[condition])).items():
                os.pwrite(self._memory, jump(self._put(code)), at)
            return True
        return False

    def _functions(self, codes: Mapping[str, str]) -> Iterator[tuple[int, bytes]]:
        """The address of each function that there is, and the code for it."""
        for name, code in codes.items():
            with contextlib.suppress(OSError):  # some are only in older or newer libraries
                real = self._address(WAITS[name]) if name in WAITS else 0
                yield self._address(name), shifted(code, real=real, **self._values)

    def _put(self, code: bytes) -> int:
        """Put code where there is room, and return its address."""
        if len(code) > len(self._room):
            raise OSError("there is no room")
        os.pwrite(self._memory, code, self._room.start)
        place, self._room = self._room.start, self._room[len(code) :]
        return place


def _addresses() -> Callable[[str], int]:
    """A function that returns the address of another, and raises OSError if there is none."""
    import _ctypes

    loaded = os.RTLD_NOLOAD | os.RTLD_LAZY
    libc = _ctypes.dlopen("libc.so.6", loaded)
    kernels = _ctypes.dlopen("linux-vdso.so.1", loaded)
    return lambda name: _ctypes.dlsym(kernels if name.startswith("__vdso_") else libc, name)


def _kernels_data() -> Iterator[tuple[int, int]]:
    """Where the kernel shows its clocks to its own library: starts and lengths."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if "[vvar" in line:
                first, _, last = line.partition(" ")[0].partition("-")
                yield int(first, 16), int(last, 16) - int(first, 16)
