"""Runs the script as the first frame of its thread, as a plain run does.

No frame of ours is below it: the script finds none, no traceback or stack shows one, and as many
calls fit on the stack. For that, two words of the interpreter's state of this thread are changed,
if they are found where this version of the interpreter has them.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

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
_PROBE = compile("seen.append(calls.value)", "<probe>", "exec")


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
    seen: list[int] = []
    exec(_PROBE, {"calls": calls, "seen": seen})
    more = seen[0] - (sys.getrecursionlimit() - 1 if _COUNTS_DOWN else 1)
    calls.value -= more
    Calls.number = calls if sys.version_info >= (3, 10) else None
    current.value = 0
    try:
        exec(code, names)
    finally:
        current.value = ours
        calls.value += more


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
    try:
        c: Any = import_module("_ctypes")
        get_state = c.dlsym(c.dlopen(None, 0), "PyThreadState_Get")
    except (ImportError, OSError):
        return None, None, 0
    number: Any = type("number", (c._SimpleCData,), {"_type_": "i"})
    word: Any = type("word", (c._SimpleCData,), {"_type_": "P"})
    asking: Any = type("asking", (c.CFuncPtr,), {"_flags_": 1 | 4, "_restype_": word})
    state, (calls_at, at, within) = asking(get_state)(), known
    at = state + at if within is None else word.from_address(state + at).value + within
    ours = word.from_address(id(frame) + 24).value if _COUNTS_DOWN else id(frame)
    return number.from_address(state + calls_at), word.from_address(at), ours
