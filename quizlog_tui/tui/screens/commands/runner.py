"""Runs the user's own commands on a screen, and shows what they write where each wants it."""

from __future__ import annotations

from collections.abc import Mapping

from ....errors import QuizlogError, UsageError
from ....text import is_whole, one_line
from ... import external
from ...keys.own_commands import VALUES, OwnCommand, variable
from ...shell_run import ShellResult, ShellRun
from ...toasts import complain, tell, warn
from ...widgets.lines.documents import safe
from ..base import ScreenView, in_worker
from .output import CommandOutputScreen

_LONGEST = 128 * 1024 - 64
"""The size in bytes of the longest value; Linux allows 128 KiB for a variable with its name."""


class CommandRunner:
    """Runs commands for the record that a screen shows or marks.

    Args:
        view: The screen.
    """

    def __init__(self, view: ScreenView) -> None:
        self.view = view
        self._under_way: ShellRun | None = None

    @in_worker("command")
    async def run(self, name: str, values: Mapping[str, str]) -> None:
        """Run a command.

        Args:
            name: Its name in the settings.
            values: What it may read here; `record` is always among them.
        """
        commands: Mapping[str, OwnCommand] = getattr(self.view.app, "own_commands", {})
        command = commands[name]
        try:
            variables = _variables(command, values)
        except QuizlogError as error:
            complain(self.view, error)
            return
        run = ShellRun(command.run, variables)
        if command.output == "none":
            await self._run_apart(command, run)
        else:
            await self._run_here(command, run)

    async def _run_apart(self, command: OwnCommand, run: ShellRun) -> None:
        tell(self.view, f"{command.name} runs")
        try:
            code = await run.run_apart()
        except OSError as error:
            complain(self.view, UsageError(error.strerror or str(error), where=error.filename))
            return
        if code:
            warn(self.view, f"{command.name}: {ending(code)}")

    async def _run_here(self, command: OwnCommand, run: ShellRun) -> None:
        self._under_way = run
        result = await self.view.slow_work.run(run.run, f"running {command.name}")
        self._under_way = None
        if result is None:
            return
        if not self.view.is_active:  # another screen was opened meanwhile
            tell(self.view, f"{command.name}: {describe(result)}")
        elif command.output == "pager" and result.output:
            self._page(command, result)
        else:
            about = f"{command.name} · {describe(result)} · {one_line(command.run)}"
            self.view.app.push_screen(CommandOutputScreen(about, result.output))

    def _page(self, command: OwnCommand, result: ShellResult) -> None:
        try:
            external.page(self.view.app, safe(result.output))
        except QuizlogError as error:
            complain(self.view, error)
        if result.code or result.cut:
            warn(self.view, f"{command.name}: {describe(result)}")

    def cancel(self) -> None:
        """Stop the command under way."""
        if self._under_way is not None:
            self._under_way.stop()

    def end(self) -> None:
        """End the command under way at once: the screen is closed."""
        if self._under_way is not None:
            self._under_way.kill()


def describe(result: ShellResult) -> str:
    """How a command ended, in words."""
    return "stopped: it wrote more than 1 MB" if result.cut else ending(result.code)


def ending(code: int) -> str:
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
