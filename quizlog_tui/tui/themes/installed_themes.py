"""Loads the themes of a running app: first the chosen one, then all; again when a file changes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from textual.app import App
from textual.theme import BUILTIN_THEMES

from ...config import ConfigProblem
from ...errors import did_you_mean
from ...files.stamp import Stamps, stamps
from .readable_text import ReadableText
from .theming import DEFAULT, load_themes, theme_files

_READABLE, _STRONG = ReadableText(4.5), ReadableText(7)
"""What WCAG asks of text at least, and of text for those who see less."""


class InstalledThemes:
    """Registers themes with a program.

    Args:
        app: The program.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._stamps: Stamps = {}

    @property
    def readable(self) -> ReadableText:
        """Draws text so that it can be read; contrast themes promise more."""
        return _STRONG if "contrast" in self._app.theme else _READABLE

    def take_first(self, asked: str, remembered: str) -> list[ConfigProblem]:
        """Apply the chosen theme, found by its file name; returns its problems.

        Reading all theme files would take a fifth of the time to the first frame.

        Args:
            asked: The theme in the settings; empty if there is none.
            remembered: The theme chosen last; empty if there is none.
        """
        wanted = asked or remembered or DEFAULT
        files = [path for path in theme_files() if path.stem in (wanted, DEFAULT)]
        if wanted not in BUILTIN_THEMES and wanted not in {path.stem for path in files}:
            files = theme_files()  # a file may be named otherwise than its theme
        self._register(files)
        self._app.theme = wanted if wanted in self._app.available_themes else DEFAULT
        if asked in ("", self._app.theme):
            return []
        hint = did_you_mean(asked, self._app.available_themes) or "F2 lists them"
        return [ConfigProblem("theme", f"there is no theme {asked!r}", hint)]

    def take_changed(self) -> list[ConfigProblem]:
        """Read all theme files again if one has changed, and redraw; returns their problems."""
        files = theme_files()
        if stamps(files) == self._stamps:
            return []
        self._stamps = stamps(files)
        before = self._app.current_theme
        problems = self._register(files)
        if self._app.current_theme != before:
            self._app.refresh_css(animate=False)
        return problems

    def _register(self, files: Iterable[Path]) -> list[ConfigProblem]:
        themes, problems = load_themes(files)
        for theme in themes:
            self._app.register_theme(theme)
        return problems
