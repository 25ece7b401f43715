"""Hands text to other programs: the terminal to an editor or pager, a copy to the clipboard."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from textual.app import App, SuspendNotSupported

from ..errors import UsageError
from ..files.process import find_program, home_folder
from ..files.scratch import scratch_folder


def edit(app: App[None], path: Path, line: int | None) -> None:
    """Open a file in the user's editor, at a line. The editor runs in the home folder.

    Raises:
        UsageError: There is no editor, or the terminal cannot be handed over.
    """
    words = _program(("VISUAL", "EDITOR"), ("nano", "vi"), "editor")
    _hand_over(app, [*words, *_at_line(Path(words[0]).name, path.absolute(), line)])


def page(app: App[None], text: str) -> None:
    """Show a text, which must be safe to show, in the user's pager.

    Raises:
        UsageError: There is no pager, or the terminal cannot be handed over.
    """
    words = _program(("PAGER",), ("less", "more"), "pager")
    with scratch_folder("pane") as folder:
        path = folder / "pane.txt"
        path.write_text(text + "\n", encoding="utf-8")
        _hand_over(app, [*words, str(path)])


def _program(variables: tuple[str, ...], usual: tuple[str, ...], kind: str) -> list[str]:
    for name in variables:
        if words := _words(name):
            return words
    for name in usual:
        if find_program(name):
            return [name]
    raise UsageError(f"there is no {kind}", hint=f"set ${variables[-1]}")


def _words(variable: str) -> list[str]:
    try:
        return shlex.split(os.environ.get(variable, ""))
    except ValueError as error:
        message = f"is not a command: {str(error).lower()}"
        raise UsageError(message, where=f"${variable}", hint="check its quotes") from None


def _at_line(program: str, path: Path, line: int | None) -> list[str]:
    """The arguments that open a file at a line."""
    if line is None:
        return [str(path)]
    if program in ("code", "codium", "cursor"):
        return ["--wait", "--goto", f"{path}:{line}"]
    if program in ("hx", "helix", "subl"):
        return [f"{path}:{line}"]
    return [f"+{line}", str(path)]


def _hand_over(app: App[None], words: list[str]) -> None:
    program = find_program(words[0])
    if program is None:
        hint = "name a program in an absolute folder of $PATH, or its full path"
        raise UsageError(f"there is no program {words[0]!r}", hint=hint)
    try:
        with app.suspend():  # an exception within would leave the terminal handed over
            failed = _run([program, *words[1:]])
    except SuspendNotSupported:
        raise UsageError("this terminal cannot be handed to another program") from None
    if failed:
        hint = "check $EDITOR and $PAGER"
        raise UsageError(f"cannot start {words[0]}: {failed.strerror}", hint=hint)


def _run(words: list[str]) -> OSError | None:
    """Run a program to its end; the error if it could not start."""
    try:
        with _interrupts_passed_by():
            subprocess.run(words, cwd=home_folder(), check=False)
    except OSError as error:
        return error
    return None


@contextmanager
def _interrupts_passed_by() -> Iterator[None]:
    """Ignore Ctrl-C while the other program runs."""
    # A function, as the other program would inherit SIG_IGN.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def copy_text(app: App[None], text: str) -> str:
    """Copy a text and return a message that says how."""
    if not app.is_web and _native(text):  # in a browser the desktop here is another's
        return "copied"
    app.copy_to_clipboard(text)
    return "copied through the terminal (OSC 52), if it allows that"


def _native(text: str) -> bool:
    """Whether a clipboard program of the desktop accepted the text."""
    import pyperclip

    try:
        pyperclip.copy(text)
    except pyperclip.PyperclipException:
        return False
    return True
