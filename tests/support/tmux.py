"""A real terminal with a program in it, and a clipboard to paste from: a tmux of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.support.screens import patiently


class Tmux:
    """Runs a command in a window of its own.

    Args:
        folder: For its socket.
        command: The program and its arguments.
        size: Columns and rows.
    """

    def __init__(
        self, folder: Path, command: Sequence[str], size: tuple[int, int] = (80, 24)
    ) -> None:
        self._tmux = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        columns, rows = map(str, size)
        self._run("new-session", "-d", "-x", columns, "-y", rows, *command)

    def _run(self, *words: str, given: bytes = b"") -> str:
        done = subprocess.run([*self._tmux, *words], input=given, capture_output=True, check=True)
        return done.stdout.decode()

    @property
    def screen(self) -> str:
        """What it shows."""
        return self._run("capture-pane", "-p")

    def wait_for(self, *texts: str) -> str:
        """Wait until it shows some texts; all that it shows."""
        for _ in patiently():
            shown = self.screen
            if all(text in shown for text in texts):
                return shown
        raise AssertionError(f"{texts} never shown:\n{shown}")

    def press_until(self, key: str, text: str) -> None:
        """Press a key, by tmux's name, until it has shown a text: it acts on painted screens."""
        for _ in patiently():
            if text in self.screen:
                return
            self._run("send-keys", key)
        raise AssertionError(f"{text!r} never shown:\n{self.screen}")

    def paste(self, text: bytes) -> None:
        """Paste as a terminal does, which says where the text begins and ends."""
        self._run("load-buffer", "-", given=text)
        self._run("paste-buffer", "-p", "-d")

    def __enter__(self) -> Tmux:
        return self

    def __exit__(self, *error: object) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)
