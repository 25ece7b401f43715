"""The errors a user can meet, each with its exit code and what to do about it.

Every failure that is not a bug in quizlog is one of these. It is shown as one line: where, what,
and what to do instead. This module imports no other part of quizlog.
"""

from __future__ import annotations

import errno

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class QuizlogError(Exception):
    """A failure the user can act on.

    Args:
        message: What is wrong, in one line.
        where: The file, field or place of the fault.
        hint: What to do instead.
    """

    exit_code = 2
    """The exit code of the command line (1 is reserved for a script that raised)."""

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place, reason = self.finding
        return f"{place}: {reason}" if place else reason

    @property
    def finding(self) -> tuple[str, str]:
        """Its place, empty if it has none, and what is wrong with what to do."""
        return self.where or "", f"{self.message} ({self.hint})" if self.hint else self.message

    def to_dict(self) -> dict[str, str | None]:
        """The error's texts as plain data for JSON."""
        return {"message": self.message, "where": self.where, "hint": self.hint}


class UsageError(QuizlogError):
    """The call cannot be carried out: a wrong argument, or a move that the state forbids."""


class RecordError(QuizlogError):
    """A record cannot be read, or does not follow the format."""


class ConfigError(QuizlogError):
    """A settings file cannot be read, or holds an invalid value."""


class DecisionError(QuizlogError):
    """A decision cannot be read, or does not follow its format."""


class ScriptError(QuizlogError):
    """A quiz script cannot be read."""


class EpisodeError(QuizlogError):
    """Training data cannot be read, made or written."""


class LimitError(QuizlogError):
    """A script went over its limit of time, output or memory."""

    exit_code = 4


class OutputError(QuizlogError):
    """A command has done its work, but stdout does not accept its data."""

    exit_code = 4


class MachineError(QuizlogError):
    """The machine has run out of open files, memory, processes or disk space."""

    exit_code = 4


class ProtocolError(LimitError):
    """A script tampered with the channel between its process and quizlog; its run has ended."""


class IsolationError(QuizlogError):
    """A script was not run because it could not be fully isolated."""


class CancelledError(QuizlogError):
    """The user stopped a running script; nothing was written."""

    exit_code = 130


class LockedError(QuizlogError):
    """Another process holds the record."""

    exit_code = 4


class ReadOnlyError(QuizlogError):
    """Audit mode refuses to write something, or to read a file that is not served."""

    exit_code = 4


class ConflictError(QuizlogError):
    """Somebody else changed the record since it was read."""

    exit_code = 4


class DifferenceError(QuizlogError):
    """A replay of the script differs from what the record says."""

    exit_code = 3


def error_data(error: QuizlogError) -> dict[str, Any]:
    """An error as the one JSON object that each door gives of it."""
    return {"schema_version": 1, "error": error.to_dict() | {"exit_code": error.exit_code}}


def did_you_mean(word: str, known: Iterable[str], *, likeness: float = 0.5) -> str:
    """The hint that names what a misspelt word is most like; empty if it is like nothing.

    Args:
        word: What the user wrote.
        known: What could have been meant.
        likeness: How like it must be, from 0 to 1: more where names share much anyway.
    """
    from difflib import get_close_matches

    names = {name.casefold(): name for name in known}
    word = word.casefold()
    near = get_close_matches(word, names, cutoff=likeness)
    swapped = [name for name in near if sorted(name) == sorted(word)]
    return f"did you mean {names[(swapped or near)[0]]}?" if near else ""


_SCARCE = {
    errno.EMFILE: "raise the limit: ulimit -n 1024",
    errno.ENFILE: "end other programs",
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk",
    errno.EFBIG: "raise the limit: ulimit -f unlimited",
    errno.EAGAIN: "end other programs, or raise the limits: ulimit -u, ulimit -v",
    errno.ENOMEM: "end other programs, or raise the limit: ulimit -v unlimited",
}
"""What to do when the machine has run out of a resource, by error number."""
_NO_THREAD = "can't start new thread"
_NO_MEMORY = ("failed to map segment", "cannot allocate memory")
"""Messages of Python and of the dynamic linker, in lower case."""
_LOST = "error return without exception set"
"""What Python's compiler may leave of a `MemoryError`."""


def refusal(error: BaseException) -> QuizlogError | None:
    """The error to show for an exception, with its notes in the hint; None for a bug in quizlog."""
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
    text = str(error).lower()
    if isinstance(error, RuntimeError) and text.startswith(_NO_THREAD):
        return MachineError("cannot start a thread", hint=_SCARCE[errno.EAGAIN])
    unloaded = isinstance(error, ImportError) and any(words in text for words in _NO_MEMORY)
    lost = isinstance(error, SystemError) and text == _LOST
    if unloaded or lost or isinstance(error, MemoryError):
        return MachineError("there is no more memory", hint=_SCARCE[errno.ENOMEM])
    return None


def _refused(error: OSError, code: int) -> QuizlogError:
    where = None if error.filename is None else str(error.filename)
    message = f"the system refuses: {error.strerror}"
    if code in _SCARCE:
        return MachineError(message, where=where, hint=_SCARCE[code])
    return UsageError(message, where=where, hint="`quizlog doctor` tells what this machine lacks")
