"""Which failures are told in one line that says what to do, and what that line is.

These are our own errors, the user's interrupt, and what the operating system refuses. Any other
exception is a defect of ours.
"""

from __future__ import annotations

import errno

from .errors import CancelledError, MachineError, QuizlogError, UsageError

_SCARCE = {
    errno.EMFILE: "raise the limit: ulimit -n 1024",
    errno.ENFILE: "end other programs",
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk",
    errno.EFBIG: "raise the limit: ulimit -f unlimited",
    errno.EAGAIN: "end other programs, or raise the limits: ulimit -u, ulimit -v",
    errno.ENOMEM: "end other programs, or raise the limit: ulimit -v unlimited",
}
"""What to do where the machine has no more of something."""
_NO_THREAD = "can't start new thread"
_NO_MEMORY = ("failed to map segment", "cannot allocate memory")
"""How Python and the loader of libraries put it."""


def refusal(error: BaseException) -> QuizlogError | None:
    """The error to show for an exception, with its notes in the hint; None for a defect."""
    shown = _known(error)
    notes = getattr(error, "__notes__", ())
    if shown is not None and notes:
        shown.hint = "; ".join([*notes, *([shown.hint] if shown.hint else [])])
    return shown


def _known(error: BaseException) -> QuizlogError | None:
    if isinstance(error, QuizlogError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return CancelledError("interrupted")
    if isinstance(error, OSError) and error.errno is not None:
        return _refused(error, error.errno)
    said = str(error).lower()
    if isinstance(error, RuntimeError) and said.startswith(_NO_THREAD):
        return MachineError("cannot start a thread", hint=_SCARCE[errno.EAGAIN])
    unloaded = isinstance(error, ImportError) and any(words in said for words in _NO_MEMORY)
    if unloaded or isinstance(error, MemoryError):
        return MachineError("there is no more memory", hint=_SCARCE[errno.ENOMEM])
    return None


def _refused(error: OSError, code: int) -> QuizlogError:
    where = None if error.filename is None else str(error.filename)
    message = f"the system refuses: {error.strerror}"
    if code in _SCARCE:
        return MachineError(message, where=where, hint=_SCARCE[code])
    return UsageError(message, where=where, hint="`quizlog doctor` tells what this machine lacks")
