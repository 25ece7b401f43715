"""Runs untrusted Python code with limits, in the best isolation that the machine offers.

    result = await run_code(code, workspace, SandboxLimits(wall=5))

The code finds a private copy of the workspace's files in its current folder and leaves its answer
in the variable `answer`. Nothing it does outlives the run, reaches the network, or changes a file.
"""

from __future__ import annotations

from pathlib import Path

from .result import ExecResult, SandboxLimits, Status

__all__ = ["ExecResult", "SandboxLimits", "Status", "run_code", "warm"]


async def run_code(
    code: str,
    workspace: Path | None = None,
    limits: SandboxLimits | None = None,
    *,
    unsafe_local: bool = False,
) -> ExecResult:
    """Run code in a separate sandbox; nothing that the code does makes this raise.

    Args:
        code: Python source. Its answer is the value of its variable `answer` at the end.
        workspace: A folder whose regular files are copied into the code's current folder.
        limits: The limits of the run.
        unsafe_local: Run the code even if the machine can isolate neither files nor network.
            Otherwise such a run is refused with the status `sandbox_error`.
    """
    from .executor import shared

    return await shared().run_code(
        code, workspace, limits or SandboxLimits(), unsafe_local=unsafe_local
    )


def warm() -> None:
    """Start a box in the background, so that the first run need not wait for it."""
    from .executor import shared

    shared().warm()
