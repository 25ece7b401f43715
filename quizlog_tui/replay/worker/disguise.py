"""Makes functions of ours look like those of the interpreter whose places they take.

Where machine code can be made, they are objects of the same kind, with the same name, module, text
and signature: errors that name them, and whatever shows them, are as in a plain run. Elsewhere
they are functions of Python with the same names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from .fixed.native import Native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PLACE = 0x3100_0000_0000
"""Where the code lies."""


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
    with contextlib.suppress(OSError), Native(_PLACE) as native:
        return [native.builtin(wrapper, real) for wrapper, real in pairs]
    return [wrapper for wrapper, _ in pairs]
