"""Refers calls that signal a process to a supervisor outside, which allows or refuses each.

Other calls are not referred, as a referred call can be interrupted, which shells take for a failure
of fork. This module imports little, as every start of a quiz loads it.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from . import bpf

Take = Callable[[int], None]
"""Takes the descriptor on which the supervisor receives calls."""
_SECCOMP = (317, 277)
_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
"""The last one keeps signals from restarting a referred call; older kernels lack it."""


def refer(call: Callable[..., int], take: Take, *, x86: bool) -> bool:
    """From now on, refer such calls of this process and of all that it starts.

    Args:
        call: Calls a function of the C library.
        take: Takes the descriptor, which is closed afterwards.
        x86: For x86-64, else for aarch64.

    Returns:
        Whether the system allows it; it does not if there is a supervisor already, for example.
    """
    kept, program = bpf.in_memory(bpf.referring(x86=x86))
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        listener = call("syscall", _SECCOMP[0 if x86 else 1], _SET_FILTER, flags, program)
        if listener >= 0:
            take(listener)
            os.close(listener)
            break
    del kept
    return listener >= 0
