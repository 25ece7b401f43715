"""Runs untrusted Python: one executor, the best isolation the machine has, bounds on everything.

    result = await run_code(code, workspace, Limits(wall=5))

The code sees a private copy of the workspace's files as its current folder and leaves its answer in
the variable `answer`. Nothing it does outlives the run, reaches the network, or changes a file.
"""

from __future__ import annotations

from pathlib import Path

from .result import ExecResult, Limits, Status

__all__ = ["ExecResult", "Limits", "Status", "run_code", "warm"]


async def run_code(
    code: str,
    workspace: Path | None = None,
    limits: Limits | None = None,
    *,
    unsafe_local: bool = False,
) -> ExecResult:
    """Run code in a sandbox of its own; never raises for anything the code does.

    Args:
        code: Python source. Its answer is what its variable `answer` holds at the end.
        workspace: A folder whose regular files the code finds in its current folder.
        limits: The bounds of the run.
        unsafe_local: Run even where the machine can isolate neither files nor network. Without it
            such a run is refused: `sandbox_error`.
    """
    from .executor import shared

    return await shared().run_code(code, workspace, limits or Limits(), unsafe_local=unsafe_local)


def warm() -> None:
    """Start in the background what the first run would have to wait for."""
    from .executor import shared

    shared().warm()
