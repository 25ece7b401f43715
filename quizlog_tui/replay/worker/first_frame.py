"""Compiles and runs the script as a plain run does, as the first frame of its thread.

Python checks the encoding of a file otherwise than that of bytes, and so does this. No frame of
ours is below the script: it finds none, no traceback or stack shows one, and as many calls fit on
the stack. For that, two words of the interpreter's state of this thread are changed, if they are
found where this version of the interpreter has them.
"""

from __future__ import annotations

import codecs
import sys
from struct import pack
from types import CodeType

from .fixed.native import Making, Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_C: Any = __import__("_ctypes")
_IN_NAMES = b"-_.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NEW = sys.version_info >= (3, 11)
_PEP = "https://peps.python.org/pep-0263/" if _NEW else "https://python.org/dev/peps/pep-0263/"
_PLACES = {
    (3, 9): (32, 24, None),
    (3, 10): (32, 24, None),
    (3, 11): (32, 56, 8),
    (3, 12): (28, 56, 0),
    (3, 13): (44, 72, None),
}
"""Where the state has the number of calls (of those that still fit, from 3.11 on), and the current
frame; or the address of what has the frame, and where."""
MORE = 60 if sys.version_info >= (3, 11) else -60
"""What is added to the number for calls of ours that no plain run makes."""
_COUNTS_DOWN = sys.version_info >= (3, 11)
_FILE_INPUT, _SOURCE_IS_UTF8 = 257, 0x100
"""What is compiled, and how, in the interpreter's words."""


def compiled(source: bytes, script: str) -> CodeType:
    """The code of a script.

    Args:
        source: The bytes of the script.
        script: The path of the script in tracebacks.

    Raises:
        SyntaxError: Python does not run such a file.
    """
    encoding = _encoding(source)
    if not encoding and not source.startswith(codecs.BOM_UTF8):
        _check_utf8(source, script)
    try:
        code = _compiled(source, script)
    except SyntaxError as error:
        if error.lineno == 0 and encoding:  # in no line, as it could not be decoded
            known = error.msg.startswith("encoding problem")
            raise SyntaxError(error.msg if known else f"encoding problem: {encoding}") from None
        raise
    return code


def _compiled(source: bytes, script: str) -> CodeType:
    """What `compile` returns. That makes the types of `ast`, too, which no plain run has."""
    known = sys.version_info[:2] in _PLACES and b"\0" not in source
    function = _address("Py_CompileStringObject") if known else 0
    if not function:
        return compile(source, script, "exec", dont_inherit=True)
    flags = pack("2i", _SOURCE_IS_UTF8, sys.version_info[1])
    code: CodeType = Making(function)(source, Object(script), _FILE_INPUT, flags, -1)
    return code


def _encoding(source: bytes) -> str:
    """The encoding that a comment in the first two lines names; empty if none does.

    Found without `re`, which a plain run does not load for it.
    """
    for line in source[:1000].splitlines()[:2]:
        before, _, comment = line.partition(b"#")
        if before.strip(b" \t\f" + codecs.BOM_UTF8):
            break
        for rest in comment.split(b"coding")[1:]:
            words = rest[1:].lstrip(b" \t")
            name = words[: len(words) - len(words.lstrip(_IN_NAMES))]
            if rest[:1] in (b":", b"=") and name:
                return name.decode()
    return ""


def _check_utf8(source: bytes, script: str) -> None:
    try:
        # Before 3.11, Python looks only at how many bytes a character has.
        source.decode("utf-8", "strict" if _NEW else "surrogatepass")
    except UnicodeDecodeError as error:
        before = source[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        raise SyntaxError(
            f"Non-UTF-8 code starting with '\\x{source[error.start]:02x}' in file {script}"
            f" on line {before.count(10) + 1}, but no encoding declared; see {_PEP} for details"
        ) from None


class Calls:
    """The number of calls of the script's first thread, if any thread can change it.

    None does so halfway: from Python 3.10 on, they take turns only between statements like that.
    """

    number: Any = None


def run(code: CodeType, names: dict[str, Any]) -> None:
    """Execute code as `exec` does."""
    calls, current, ours = _places(sys._getframe())
    if current is None or current.value != ours:
        exec(code, names)
        return
    seen = {"calls": calls}
    exec(_probe.__code__, seen)
    more = seen["number"] - (sys.getrecursionlimit() - 1 if _COUNTS_DOWN else 1)
    calls.value -= more
    Calls.number = calls if sys.version_info >= (3, 10) else None
    current.value = 0
    try:
        exec(code, names)
    finally:
        current.value = ours
        calls.value += more


def _probe() -> None:
    """Executed with names of its own, as the script will be."""
    globals()["number"] = globals()["calls"].value


def _places(frame: FrameType) -> tuple[Any, Any, int]:
    """The number of calls and the current frame in the state of this thread, which can be changed.

    Args:
        frame: The current frame.

    Returns:
        Both, and what the second must be; None for each if this interpreter is not known.
    """
    known = _PLACES.get(sys.version_info[:2])
    if known is None or sys.maxsize < 2**32 or hasattr(sys, "getobjects"):
        return None, None, 0
    get_state = _address("PyThreadState_Get")
    if not get_state:
        return None, None, 0
    number: Any = type("number", (_C._SimpleCData,), {"_type_": "i"})
    word: Any = type("word", (_C._SimpleCData,), {"_type_": "P"})
    asking: Any = type("asking", (_C.CFuncPtr,), {"_flags_": 1 | 4, "_restype_": word})
    state, (calls_at, at, within) = asking(get_state)(), known
    at = state + at if within is None else word.from_address(state + at).value + within
    ours = word.from_address(id(frame) + 24).value if _COUNTS_DOWN else id(frame)
    return number.from_address(state + calls_at), word.from_address(at), ours


def _address(name: str) -> int:
    """The address of a function of the interpreter; 0 if it is not to be found."""
    try:
        address: int = _C.dlsym(_C.dlopen(None, 0), name)
    except OSError:
        return 0
    return address
