"""Hands the terminal to the user's editor or pager, and takes it back."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from textual.app import App, SuspendNotSupported

from ..errors import UsageError


def edit(app: App[None], path: Path, line: int | None) -> None:
    """Open a file in the user's editor, at a line.

    Raises:
        UsageError: There is no editor, or the terminal cannot be handed over.
    """
    words = _program(("VISUAL", "EDITOR"), ("nano", "vi"), "editor")
    _hand_over(app, [*words, *_at_line(Path(words[0]).name, path, line)])


def page(app: App[None], text: str) -> None:
    """Show a text, which must be safe to show, in the user's pager.

    Raises:
        UsageError: There is no pager, or the terminal cannot be handed over.
    """
    words = _program(("PAGER",), ("less", "more"), "pager")
    with tempfile.TemporaryDirectory(prefix="quizlog-") as folder:
        path = Path(folder) / "pane.txt"
        path.write_text(text + "\n", encoding="utf-8")
        _hand_over(app, [*words, str(path)])


def _program(variables: tuple[str, ...], usual: tuple[str, ...], kind: str) -> list[str]:
    for name in variables:
        if os.environ.get(name, "").strip():
            return shlex.split(os.environ[name])
    for name in usual:
        if shutil.which(name):
            return [name]
    raise UsageError(f"there is no {kind}", hint=f"set ${variables[-1]}")


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
    try:
        with app.suspend():
            subprocess.run(words, check=False)
    except SuspendNotSupported:
        raise UsageError("this terminal cannot be handed to another program") from None
    except OSError as error:
        hint = "look at $EDITOR and $PAGER"
        raise UsageError(f"cannot start {words[0]}: {error.strerror}", hint=hint) from None
