"""The errors a user can meet, each with its exit code and its mend.

Every failure that is not a defect of ours is one of these. It is shown as one line: where, what,
and what to do instead. Nothing here may import another part of quizlog.
"""

from __future__ import annotations


class QuizlogError(Exception):
    """A failure the user can act on.

    Args:
        message: What is wrong, in one line.
        where: The file, field or place it is wrong in.
        hint: What to do instead.
    """

    exit_code = 2
    """The exit code of the command line (1 is kept for a script that raised)."""

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        mend = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.message}{mend}"


class UsageError(QuizlogError):
    """The call itself cannot be carried out: a wrong argument, or a move the state forbids."""


class RecordError(QuizlogError):
    """A record cannot be read, or does not follow the format."""


class ConfigError(QuizlogError):
    """A file of settings cannot be read, or says something it may not."""


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
    """stdout does not take the data of a command; what the command did is done."""

    exit_code = 4


class MachineError(QuizlogError):
    """The machine has no more of what is needed: files, memory, processes, room on the disk."""

    exit_code = 4


class ProtocolError(LimitError):
    """A script meddled with the channel between its process and quizlog; its run is over."""


class IsolationError(QuizlogError):
    """A script was not run, as it could be shut in only half."""


class CancelledError(QuizlogError):
    """The user stopped a running script; nothing was written."""

    exit_code = 130


class LockedError(QuizlogError):
    """Another process holds the record."""

    exit_code = 4


class ConflictError(QuizlogError):
    """The record was changed by somebody else since it was read."""

    exit_code = 4


class DifferenceError(QuizlogError):
    """A record is not what its script does, so that nobody can vouch for it."""

    exit_code = 3
