"""The errors that say why a quiz process was ended, or never ran its script."""

from __future__ import annotations

from ...errors import CancelledError, IsolationError, LimitError, MachineError, ProtocolError
from .limits import Limits
from .protocol import Violation

_RAISE = "look for an endless loop, or raise the limit"
_DOCTOR = "see what `quizlog doctor` says"


def not_started(name: str, stderr: bytes) -> MachineError:
    """The interpreter ended before it ran a line of the script.

    Args:
        name: The name of the script.
        stderr: The interpreter's stderr.
    """
    last = stderr.decode(errors="replace").strip().rpartition("\n")[2]
    message = f"was not run: the interpreter ended at its start: {last or 'it was killed'}"
    hint = _DOCTOR if last else f"{_DOCTOR}, and whether a limit such as ulimit -v is too low"
    return MachineError(message, where=name, hint=hint)


def not_isolated(name: str, reason: str) -> IsolationError:
    """The script could not be isolated from the machine."""
    return IsolationError(f"was not run: {reason}", where=name, hint=_DOCTOR)


def protocol_broken(name: str, step: int, violation: Violation) -> ProtocolError:
    """The script sent an impossible message."""
    message = f"the script broke the protocol at step {step}: {violation}"
    hint = "it meddled with quizlog's own channel: believe nothing that it shows"
    return ProtocolError(message, where=name, hint=hint)


def wrote_too_much(name: str, limits: Limits) -> LimitError:
    """The script wrote more than one step may."""
    message = f"wrote more than {limits.output / 2**20:g} MB without asking"
    return LimitError(message, where=name, hint=_RAISE)


def file_full(name: str) -> LimitError:
    """The script's output reached the maximum size of a file."""
    hint = "raise that limit: ulimit -f unlimited"
    return LimitError("wrote as much as a file may hold here", where=name, hint=hint)


def took_too_long(name: str, limits: Limits) -> LimitError:
    """The script took longer than one step may."""
    message = f"ran {limits.seconds:g} seconds without asking or ending"
    return LimitError(message, where=name, hint=_RAISE)


def started_too_much(name: str, limits: Limits, bound: str) -> LimitError:
    """The script, or the processes it started, exceeded a bound; see `worker.family_bounds`."""
    size = f"{limits.memory / 2**30:g} GB"
    said = {
        "memory": f"started processes that hold more than {size} of memory",
        "shared": f"held more than {size} of shared memory",
        "threads": f"had more than {limits.processes} threads at a time",
        "processes": f"had more than {limits.processes} processes at a time",
    }
    hint = "start fewer at a time, or raise the limit"
    return LimitError(said[bound], where=name, hint=hint)


def cancelled(name: str) -> CancelledError:
    """The run was cancelled."""
    return CancelledError("stopped before the next question", where=name)
