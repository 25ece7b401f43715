"""Runs the user's own commands, and shows what they write where each wants it.

They run in the home folder, not in the current one, nor in a record's: many programs obey the
folder that they run in, and these may be a stranger's.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...errors import QuizlogError, UsageError
from ...files.process import home_folder
from ...text import is_whole, one_line
from .. import external
from ..keys.own_commands import VALUES, OwnCommand, variable
from ..toasts import complain, tell, warn
from ..widgets.documents import Line, Paragraphs, line, logical_lines, safe, terminal_pieces
from .base import QuizlogScreen

_LONGEST = 128 * 1024 - 64
"""The size in bytes of the longest value; Linux allows 128 KiB for a variable with its name."""
_MOST_BYTES = 1_000_000
"""The output that is kept; a program that writes more is stopped."""


class CommandRunner:
    """Runs commands for the record that a screen shows or marks."""

    def __init__(self, screen: QuizlogScreen[Any]) -> None:
        self._screen = screen
        self._under_way: ShellRun | None = None

    def run(self, name: str, values: Mapping[str, str]) -> None:
        """Run the command of that name, which may read the values, beside the screen's work."""
        command = self._screen.program.own_commands[name]
        self._screen.run_worker(self._run(command, values), group="command")

    async def _run(self, command: OwnCommand, values: Mapping[str, str]) -> None:
        try:
            variables = _variables(command, values)
        except QuizlogError as error:
            complain(self._screen, error)
            return
        run = ShellRun(command.run, variables)
        if command.output == "none":
            await self._run_apart(command, run)
        else:
            await self._run_here(command, run)

    async def _run_apart(self, command: OwnCommand, run: ShellRun) -> None:
        tell(self._screen, f"{command.name} runs")
        try:
            code = await run.run_apart()
        except OSError as error:
            complain(self._screen, UsageError(error.strerror or str(error), where=error.filename))
            return
        if code:
            warn(self._screen, f"{command.name}: {_ending(code)}")

    async def _run_here(self, command: OwnCommand, run: ShellRun) -> None:
        self._under_way = run
        result = await self._screen.slow_work.run(run.run, f"running {command.name}")
        self._under_way = None
        if result is None:
            return
        if not self._screen.is_active:  # another screen was opened meanwhile
            tell(self._screen, f"{command.name}: {_describe(result)}")
        elif command.output == "pager" and result.output:
            self._page(command, result)
        else:
            about = f"{command.name} · {_describe(result)} · {one_line(command.run)}"
            self._screen.app.push_screen(CommandOutputScreen(about, result.output))

    def _page(self, command: OwnCommand, result: _ShellResult) -> None:
        try:
            external.page(self._screen.app, safe(result.output))
        except QuizlogError as error:
            complain(self._screen, error)
        if result.code or result.cut:
            warn(self._screen, f"{command.name}: {_describe(result)}")

    def cancel(self) -> None:
        """Stop the command under way."""
        if self._under_way is not None:
            self._under_way.stop()

    def end(self) -> None:
        """End the command under way at once: the screen is closed."""
        if self._under_way is not None:
            self._under_way.kill()


def _describe(result: _ShellResult) -> str:
    """How a command ended, in words."""
    return "stopped: it wrote more than 1 MB" if result.cut else _ending(result.code)


def _ending(code: int) -> str:
    """An exit code in words."""
    return f"exit code {code}" if code >= 0 else f"ended by signal {-code}"


def _variables(command: OwnCommand, values: Mapping[str, str]) -> dict[str, str]:
    """The environment variables for a command: empty for a value that is not there.

    Raises:
        UsageError: The line reads a value that this screen lacks, or that no program can be given.
    """
    for name in sorted(command.values):
        if name not in values:
            said = f"{command.name} needs {variable(name)}, which only a record that is open has"
            raise UsageError(said, hint="open the record, then press the key")
        if not _can_be_given(values[name]):
            said = f"{variable(name)} holds what no program can be given"
            raise UsageError(said, hint="it is too long, or has a null character")
    given = {name: value for name, value in values.items() if _can_be_given(value)}
    return {variable(name): given.get(name, "") for name in VALUES}


def _can_be_given(value: str) -> bool:
    """Whether a value can be in a program's environment."""
    return "\0" not in value and is_whole(value) and len(value.encode()) <= _LONGEST


@dataclass(frozen=True)
class _ShellResult:
    """How a shell line ended."""

    code: int
    """Its exit code; negative: the signal that ended it."""
    output: str
    """What it wrote to stdout and stderr."""
    cut: bool
    """Whether it was stopped because it wrote too much."""


class ShellRun:
    """One run of a shell line with variables besides the user's own, which can be stopped."""

    def __init__(self, line: str, variables: Mapping[str, str]) -> None:
        self._line = line
        self._variables = variables
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def _settings(self) -> dict[str, Any]:
        """How a program is started, but for where its output goes."""
        return {
            "cwd": home_folder(),
            "env": {**os.environ, **self._variables},
            "stdin": subprocess.DEVNULL,
            "start_new_session": True,  # what it starts ends with it
        }

    def run(self) -> _ShellResult:
        """Run it to its end. Blocks."""
        with subprocess.Popen(
            self._line,
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **self._settings(),
        ) as self._process:
            assert self._process.stdout is not None
            written = self._process.stdout.read(_MOST_BYTES + 1)
            if cut := len(written) > _MOST_BYTES:
                self.stop()
        output = written[:_MOST_BYTES].decode("utf-8", "replace")
        return _ShellResult(self._process.returncode, output, cut)

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
        nowhere = subprocess.DEVNULL
        process = await asyncio.create_subprocess_shell(
            self._line, stdout=nowhere, stderr=nowhere, **self._settings()
        )
        return await process.wait()


class CommandOutputScreen(QuizlogScreen[None]):
    """Shows the output of a command that has ended, which may hold anything."""

    SCOPE = "command"

    def __init__(self, about: str, output: str) -> None:
        super().__init__()
        self._about = about
        self._output = output

    def on_mount(self) -> None:
        """Show the output."""
        lines = _lines(self._output) or [line(("it wrote nothing", "dim"))]
        self.show_text("Output", self._about, Paragraphs(lines))


def _lines(output: str) -> list[Line]:
    """The lines of an output as a terminal would show them."""
    pieces = terminal_pieces(output.removesuffix("\n"), "", raw=False)
    return [Line(tuple(row)) for row in logical_lines(pieces)] if output else []
