"""Functions that return what they are told, in machine code, to be put in place of real ones.

Each takes the arguments of the real function, and nothing of the interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence

MACHINE = "x86_64"
"""The machine for which this code is."""
JUMP = 12
"""Bytes of a jump."""
_END = "c3"


def jump(target: int) -> bytes:
    """Continue elsewhere."""
    return _code("48b8", _long(target), "ffe0")  # mov rax, TARGET; jmp rax


def constant(value: int) -> bytes:
    """Return a number, or an address."""
    return _code("48b8", _long(value), _END)  # mov rax, VALUE; ret


def filled(value: int) -> bytes:
    """Put a number in the places to which three arguments point, as `getresuid` does."""
    put = ("c707", "c706", "c702")  # mov [rdi], VALUE; mov [rsi], VALUE; mov [rdx], VALUE
    return _code(*(part for one in put for part in (one, _int(value))), "31c0", _END)


def listed(values: Sequence[int]) -> bytes:
    """Put numbers in a list if it has room, and return how many they are, as `getgroups` does."""
    puts = "".join(f"c746{4 * at:02x}{_int(value)}" for at, value in enumerate(values))
    # mov eax, COUNT; test edi, edi (does it only ask?); je over; cmp edi, eax; jl small;
    # mov [rsi + AT], VALUE for each; over: ret; small: mov eax, -1; ret
    size = len(puts) // 2
    asks, small = f"85ff 74{size + 4:02x}", f"39c7 7c{size + 1:02x}"
    return _code("b8", _int(len(values)), asks, small, puts, _END, "b8ffffffff", _END)


def copied(source: int, size: int) -> bytes:
    """Copy bytes to the place to which the first argument points, as `uname` does."""
    # mov rsi, SOURCE; mov ecx, SIZE; rep movsb; xor eax, eax; ret
    return _code("48be", _long(source), "b9", _int(size), "f3a4 31c0", _END)


def masked(mask: int) -> bytes:
    """Put a mask of up to 64 bits into a longer one, as `sched_getaffinity` does."""
    # mov rdi, rdx; mov rcx, rsi; xor eax, eax; rep stosb; mov rcx, MASK; mov [rdx], rcx; ret
    return _code("4889d7 4889f1 31c0 f3aa 48b9", _long(mask), "48890a", _END)


def number_unless(flag: int, value: int, make: int, real: int) -> bytes:
    """Return a number of Python until a flag is set, then what the real function returns.

    Args:
        flag: The address of the flag, one byte.
        value: The address of the number, eight bytes.
        make: The address of `PyFloat_FromDouble`.
        real: The address of the real function.
    """
    # mov rax, FLAG; cmp byte [rax], 0; jne real; mov rax, VALUE; movsd xmm0, [rax]; jump to MAKE
    shown = _code("48b8", _long(value), "f20f1000") + jump(make)
    return _code("48b8", _long(flag), f"803800 75{len(shown):02x}") + shown + jump(real)


def flagging(flag: int, real: int) -> bytes:
    """Do what the real function does, and set a flag if that succeeds."""
    # sub rsp, 8; mov rax, REAL; call rax; add rsp, 8; test rax, rax; je over;
    # mov rcx, FLAG; mov byte [rcx], 1; over: ret
    call = ("4883ec08 48b8", _long(real), "ffd0 4883c408 4885c0 740d")
    return _code(*call, "48b9", _long(flag), "c60101", _END)


def calling(function: int, run: int, *, named: bool) -> bytes:
    """Call a function of Python with the arguments of one of the interpreter's.

    Args:
        function: The address of the function that is called.
        run: The address of the function that calls it with a row of arguments.
        named: Whether arguments may come with names.
    """
    # xor ecx, ecx (no names); mov rdi, FUNCTION; jump to RUN
    return _code("" if named else "31c9", "48bf", _long(function)) + jump(run)


def _code(*parts: str) -> bytes:
    return bytes.fromhex("".join(parts))


def _int(value: int) -> str:
    return value.to_bytes(4, "little").hex()


def _long(value: int) -> str:
    return value.to_bytes(8, "little").hex()
