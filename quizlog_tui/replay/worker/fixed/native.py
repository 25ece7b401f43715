"""Changes functions of the C library and of the interpreter below Python.

Who asks the C library itself finds the same as who asks Python, and Python's own functions stay the
objects that they are, as a script could tell others from them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from importlib import import_module
from struct import pack

from ..system import call
from . import native_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PAGE = 4096
_READ, _WRITE, _RUN = 1, 2, 4
_IN_A_ROW, _WITH_NAMES = 0x80, 0x02
_TAKES = 0xFFFF & ~_WITH_NAMES
"""Bits that say how a function takes its arguments."""
_CALL = "_PyFunction_Vectorcall" if sys.version_info < (3, 12) else "PyObject_Vectorcall"
"""What calls a function with a row of arguments."""
_OWN_MEMORY = 0x22 | 0x100000
"""Private memory at exactly the place that is asked for."""
_C: Any = import_module("_ctypes")


class _Word(_C._SimpleCData):  # type: ignore[misc]
    _type_ = "P"


class _Object(_C._SimpleCData):  # type: ignore[misc]
    _type_ = "O"


class _Making(_C.CFuncPtr):  # type: ignore[misc]
    """A function of the interpreter that makes an object."""

    _flags_ = 1 | 4
    _restype_ = _Object


class Native:
    """Puts code and data in memory, and functions in place of others. A context manager.

    Args:
        place: Where the code lies: so far from all else that it moves nothing of the script's.

    Raises:
        OSError: That is impossible on this machine.
    """

    def __init__(self, place: int) -> None:
        if os.uname().machine != native_code.MACHINE or sys.maxsize < 2**32:
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
            real, jump = self.address(name), native_code.jump(self._function(code))
            self._acts.append(lambda: _replace(real, jump))

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
        code = self._function(
            native_code.calling(id(wrapper), run, named=bool(flags & _WITH_NAMES))
        )
        definition = self.data(pack("4Q", name, code, flags, text))
        _C.call_function(self.address("Py_IncRef"), (_Object(wrapper),))
        make = _Making(self.address("PyCMethod_New"))
        owner, module = _Object(real.__self__), _Object(real.__module__)
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
