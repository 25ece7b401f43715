"""Changes functions of the C library and of the interpreter below Python, in machine code.

Who asks the C library itself finds the same as who asks Python, and Python's own functions stay the
objects that they are, as a script could tell others from them. Functions of ours that take the
place of the interpreter's look like them: where machine code can be made, they are objects of the
same kind, with the same name, module, text and signature, so errors that name them, and whatever
shows them, are as in a plain run. Elsewhere they are functions of Python with the same names.

The machine code returns what it is told. It takes the arguments of the real function, and nothing
of the interpreter.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from struct import pack

from ..system import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MACHINE = "x86_64"
"""The machine for which this code is."""
_END = "c3"
_PAGE = 4096
_READ, _WRITE, _RUN = 1, 2, 4
_IN_A_ROW, _WITH_NAMES = 0x80, 0x02
_TAKES = 0xFFFF & ~_WITH_NAMES
"""Bits that say how a function takes its arguments."""
_CALL = "_PyFunction_Vectorcall" if sys.version_info < (3, 12) else "PyObject_Vectorcall"
"""What calls a function with a row of arguments."""
_OWN_MEMORY = 0x22 | 0x100000
"""Private memory at exactly the place that is asked for."""
_DISGUISES = 0x3100_0000_0000
"""Where the code lies."""
_C: Any = __import__("_ctypes")


class _Word(_C._SimpleCData):  # type: ignore[misc]
    _type_ = "P"


class Object(_C._SimpleCData):  # type: ignore[misc]
    """An object of Python, for functions of the interpreter."""

    _type_ = "O"


class Making(_C.CFuncPtr):  # type: ignore[misc]
    """A function of the interpreter that makes an object."""

    _flags_ = 1 | 4
    _restype_ = Object


class Native:
    """Puts code and data in memory, and functions in place of others. A context manager.

    Args:
        place: Where the code lies: so far from all else that it moves nothing of the script's.

    Raises:
        OSError: That is impossible on this machine.
    """

    def __init__(self, place: int) -> None:
        if os.uname().machine != MACHINE or sys.maxsize < 2**32:
            raise OSError("this code is for another machine")
        self._library: int = _C.dlopen(None, 0)
        self.address("gnu_get_libc_version")  # others leave no room between their functions
        arguments = (_READ | _WRITE, _OWN_MEMORY, -1, 0)
        if _C.call_function(self.address("mmap"), (_Word(place), 2 * _PAGE, *arguments)):
            raise OSError("the place is not free")  # only the low half of an address is returned
        self._place, self._code, self._data = place, place, place + _PAGE
        self._acts: list[Callable[[], None]] = []

    def __enter__(self) -> Native:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        """Put all functions in place, after their code may run."""
        if kind is not None:
            return
        _allow(self._place, _PAGE, _READ | _RUN)
        for act in self._acts:
            act()

    def address(self, name: str) -> int:
        """The address of a function.

        Raises:
            OSError: There is none.
        """
        address: int = _C.dlsym(self._library, name)
        return address

    def data(self, content: bytes) -> int:
        """Keep bytes; return their address."""
        at, self._data = self._data, self._data + len(content) + -len(content) % 16
        _write(at, content)
        return at

    def replace(self, name: str, code: bytes) -> None:
        """Let a function of the C library, if it has it, run other code, whoever calls it."""
        with contextlib.suppress(OSError):
            real, to_code = self.address(name), jump(self._function(code))
            self._acts.append(lambda: _replace(real, to_code))

    def replace_method(self, function: Any, code: bytes) -> None:
        """Let a function of the interpreter, which stays the same object, run other code."""
        place, other = _method(function), self._function(code).to_bytes(8, "little")
        self._acts.append(lambda: _write(place, other))

    def builtin(self, wrapper: Any, real: Any) -> Any:
        """Make a function of the interpreter's kind that looks like another and calls ours.

        Args:
            wrapper: Our function, which is kept for ever.
            real: The function that it looks like.

        Raises:
            OSError: That takes its arguments in another way.
        """
        name, _, flags, text = map(_word, range(*_definition(real)))
        if flags & _TAKES != _IN_A_ROW:
            raise OSError("this function takes no row of arguments")
        run = self.address(_CALL)
        code = self._function(calling(id(wrapper), run, named=bool(flags & _WITH_NAMES)))
        definition = self.data(pack("4Q", name, code, flags, text))
        _C.call_function(self.address("Py_IncRef"), (Object(wrapper),))
        make = Making(self.address("PyCMethod_New"))
        owner, module = Object(real.__self__), Object(real.__module__)
        return make(_Word(definition), owner, module, _Word(0))

    def method(self, function: Any) -> int:
        """The address of the code of a function of the interpreter.

        Raises:
            OSError: It lies elsewhere in this interpreter.
        """
        return _word(_method(function))

    def _function(self, code: bytes) -> int:
        """Keep code; return its address."""
        at, self._code = self._code, self._code + len(code) + -len(code) % 16
        _write(at, code)
        return at


def _method(function: Any) -> int:
    """Where the interpreter keeps the address of the code of one of its functions."""
    return _definition(function)[0] + 8


def _definition(function: Any) -> tuple[int, int, int]:
    """Where the interpreter describes one of its functions: start, end and size of a word."""
    definition = _word(id(function) + object.__basicsize__)
    name = function.__name__.encode() + b"\0"
    compare = _C.dlsym(_C.dlopen(None, 0), "memcmp")
    if hasattr(sys, "getobjects") or _C.call_function(
        compare, (_Word(_word(definition)), name, len(name))
    ):
        raise OSError("this interpreter has other objects")
    return definition, definition + 32, 8


def _word(at: int) -> int:
    return _Word.from_address(at).value or 0


def _replace(at: int, content: bytes) -> None:
    """Write to pages of code, which stay as they are if they cannot be changed."""
    first = at - at % _PAGE
    size = at + len(content) - first
    with contextlib.suppress(OSError):
        _allow(first, size, _READ | _WRITE | _RUN)
        _write(at, content)
        _allow(first, size, _READ | _RUN)


def _write(at: int, content: bytes) -> None:
    _C.call_function(_C.dlsym(_C.dlopen(None, 0), "memmove"), (_Word(at), content, len(content)))


def _allow(pages: int, size: int, rights: int) -> None:
    call("mprotect", _Word(pages), size, rights)


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


def disguised(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Functions that look like others.

    Args:
        pairs: Each function of ours, and the one in whose place it is put.
    """
    pairs = list(pairs)
    for wrapper, real in pairs:
        wrapper.__name__ = wrapper.__qualname__ = real.__name__
        wrapper.__doc__ = real.__doc__
        wrapper.__module__ = real.__module__
    with contextlib.suppress(OSError), Native(_DISGUISES) as native:
        return [native.builtin(wrapper, real) for wrapper, real in pairs]
    return [wrapper for wrapper, _ in pairs]
