"""What a sandboxed run may use, and what came of it. Pure data; nothing here starts anything.

All of a result except `answer`, `stdout`, `stderr` and the text of an exception is set by the
parent. Those four are claims of hostile code: bounded, plain data, never to be trusted.
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
"""How a run ended.

`ok` left an answer; `error` raised; `timeout`, `oom`, `output_limit`, `disk_limit` went over a
limit; `crashed` died by a signal; `no_result` left no answer; `bad_result` and `result_too_big`
left something that is no answer; `sandbox_error` is never the code's fault: ours, or it was refused
or stopped.
"""

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The bounds of one run. Sizes are in bytes, times in seconds."""

    wall: float = 10.0
    """From the start of the code to its answer."""
    cpu: float = 20.0
    """Processor time of the code and all that it starts."""
    memory: int = 1024 * MEBIBYTE
    """Of the whole tree of processes, files in memory included."""
    processes: int = 64
    """Processes and threads at once."""
    file_size: int = 64 * MEBIBYTE
    """Of one file."""
    disk: int = 256 * MEBIBYTE
    """All that the run may write, and its copy of the workspace."""
    output: int = MEBIBYTE
    """Kept of stdout, and of stderr; the run ends at 64 times as much."""
    answer: int = MEBIBYTE
    """The answer as JSON text."""


@dataclass(frozen=True)
class ExecResult:
    """What came of a run."""

    status: Status
    answer: Any
    """JSON data the code left in its variable `answer`; None unless the status is `ok`."""
    stdout: str
    stderr: str
    error: str | None
    """Why there is no answer, in a line: of an exception its type, text and line in the code."""
    seconds: float
    """Wall time the code took."""
    isolation: str
    """What it ran under: `bwrap`, `landlock`, `UNSAFE: rlimits only`, or `none` when it did not."""
