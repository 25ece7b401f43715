"""Runs a shell line in the home folder and takes what it writes. Knows no screen.

Not in the current folder, nor in a record's: many programs obey the folder that they run in, and
these may be a stranger's.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from ..files.programs import home_folder

_MOST_BYTES = 1_000_000
"""The output that is kept; a program that writes more is stopped."""


@dataclass(frozen=True)
class ShellResult:
    """How a shell line ended."""

    code: int
    """Its exit code; negative: the signal that ended it."""
    output: str
    """What it wrote to stdout and stderr."""
    cut: bool
    """Whether it was stopped because it wrote too much."""


class ShellRun:
    """One run of a shell line, which can be stopped.

    Args:
        line: The line.
        variables: Environment variables for it, besides the user's own.
    """

    def __init__(self, line: str, variables: Mapping[str, str]) -> None:
        self._line = line
        self._environment = {**os.environ, **variables}
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> ShellResult:
        """Run it to its end. Blocks."""
        with subprocess.Popen(
            self._line,
            shell=True,
            cwd=home_folder(),
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # what it starts ends with it
        ) as self._process:
            assert self._process.stdout is not None
            written = self._process.stdout.read(_MOST_BYTES + 1)
            if cut := len(written) > _MOST_BYTES:
                self.stop()
        output = written[:_MOST_BYTES].decode("utf-8", "replace")
        return ShellResult(self._process.returncode, output, cut)

    def stop(self) -> None:
        """Ask the program to end; the second time, kill it."""
        self._send(signal.SIGKILL if self._stopped else signal.SIGTERM)
        self._stopped = True

    def kill(self) -> None:
        """End the program at once."""
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    async def run_apart(self) -> int:
        """Run it without its output, whatever becomes of this program; its exit code."""
        process = await asyncio.create_subprocess_shell(
            self._line,
            cwd=home_folder(),
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return await process.wait()
