"""Has someone outside asked about calls that signal a process, before each is made.

Not about others: a call that is looked at can be interrupted, and shells take that for a failure
where they fork. Imports next to nothing, as it is on the way of every start.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from . import bpf

Take = Callable[[int], None]
"""Takes the descriptor at which is asked."""
_SECCOMP = (317, 277)
_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
"""The last: no signal makes a call begin anew that somebody looks at. Not in older kernels."""


def refer(call: Callable[..., int], take: Take, *, x86: bool) -> bool:
    """Refer such calls of this process and of all it starts, from now on.

    Args:
        call: Calls a function of the C library.
        take: Takes the descriptor, which is closed here afterwards.
        x86: For x86-64, else for aarch64.

    Returns:
        Whether the system does so: not where someone outside is asked already, say.
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
