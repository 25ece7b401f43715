"""The limits and the result of a sandboxed run, as pure data.

In a result, `answer`, `stdout`, `stderr` and the text of an exception are claims of hostile code:
plain data of limited size that must never be trusted. The parent sets everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal[
    "ok",
    "error",
    "timeout",
    "oom",
    "crashed",
    "no_result",
    "bad_result",
    "result_too_big",
    "output_limit",
    "disk_limit",
    "sandbox_error",
]
"""How a run ended."""
STATUSES: dict[Status, str] = {
    "ok": "it left an answer",
    "error": "it raised an exception",
    "no_result": "it left no answer",
    "bad_result": "its answer is not a JSON value, and cannot be made one",
    "crashed": "a signal ended it",
    "timeout": "it ran for too long",
    "oom": "it used too much memory",
    "output_limit": "it printed too much",
    "disk_limit": "it wrote too much to the disk",
    "result_too_big": "its answer is too long",
    "sandbox_error": "it was not run, or was stopped; never the code's fault",
}
"""What each status means."""

_MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class SandboxLimits:
    """The limits of one run. Sizes are in bytes, times in seconds."""

    wall: float = 10.0
    """Time from the start of the code to its answer."""
    cpu: float = 20.0
    """Processor time of the code and all that it starts."""
    memory: int = 1024 * _MEBIBYTE
    """Memory of the whole process tree, files in memory included."""
    processes: int = 64
    """Number of concurrent processes and threads."""
    file_size: int = 64 * _MEBIBYTE
    """Size of a file."""
    disk: int = 256 * _MEBIBYTE
    """Size of all that the run writes, together with its copy of the workspace."""
    output: int = _MEBIBYTE
    """Size of stdout, and of stderr, that is kept; the run is ended at 64 times as much."""
    answer: int = _MEBIBYTE
    """Size of the answer as JSON text."""


@dataclass(frozen=True)
class ExecResult:
    """The result of a run."""

    status: Status
    answer: Any
    """The JSON value of the variable `answer`; None unless the status is `ok`."""
    stdout: str
    stderr: str
    error: str | None
    """Why there is no answer, in one line; for an exception its type, text and line in the code."""
    seconds: float
    """Wall time of the code."""
    isolation: str
    """The isolation: `bwrap`, `landlock`, `UNSAFE: rlimits only`, or `none` if it did not run."""
