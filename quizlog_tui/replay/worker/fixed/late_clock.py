"""Functions that return a time some years ago, in machine code.

They may be called at any moment by a thread that does not know the interpreter. They call the real
function and subtract a constant. A time in the past never makes a caller wait.
"""

from __future__ import annotations

SYSTEM_CLOCK = "_ZNSt6chrono3_V212system_clock3nowEv"
"""`std::chrono::system_clock::now` of C++."""
MACHINE = "x86_64"
"""The machine for which this code is."""
_SECONDS = 123_456_789
"""Seconds that are subtracted: day, weekday, hour, minute and second all differ."""

_CODE = {
    # push rdi; mov rax, REAL; call rax; pop rdi; sub rax, SECONDS;
    # test rdi, rdi; je over; mov [rdi], rax; over: ret
    "time": "57 48b8{real} ffd0 5f 482d{seconds} 4885ff 7403 488907 c3",
    # push rdi; mov rax, REAL; call rax; pop rdi;
    # test rdi, rdi; je over; sub [rdi], SECONDS; over: ret
    "gettimeofday": "57 48b8{real} ffd0 5f 4885ff 7407 48812f{seconds} c3",
    # push rdi; push rsi; push rax; mov rax, REAL; call rax; pop rsi; pop rsi; pop rdi;
    # test edi, edi (the clock of the day?); jne over; sub [rsi], SECONDS; over: ret
    "clock_gettime": "57 56 50 48b8{real} ffd0 5e 5e 5f 85ff 7507 48812e{seconds} c3",
    # push rax; mov rax, REAL; call rax; pop rcx; mov rcx, NANOSECONDS; sub rax, rcx; ret
    SYSTEM_CLOCK: "50 48b8{real} ffd0 59 48b9{nanoseconds} 4829c8 c3",
}


def late_function(name: str, real: int) -> bytes:
    """The code of a function that returns a past time.

    Args:
        name: The name of the real function.
        real: The address of the real function.
    """
    parts = {
        "real": real.to_bytes(8, "little").hex(),
        "seconds": _SECONDS.to_bytes(4, "little").hex(),
        "nanoseconds": (_SECONDS * 10**9).to_bytes(8, "little").hex(),
    }
    return bytes.fromhex(_CODE[name].format_map(parts))
