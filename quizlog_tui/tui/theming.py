"""Reads and checks themes from YAML files, shipped ones and the user's own, and registers them.

All invalid files are reported together; they never stop the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.theme import BUILTIN_THEMES, Theme

from ..config import ConfigProblem, config_folder
from ..errors import QuizlogError, did_you_mean
from ..files.paths import shipped
from ..record.yaml_text import parse
from .line_filters import ReadableText

DEFAULT = "quizlog-dark"
"""The default theme."""
_KEYS = [one.name for one in fields(Theme)]
_SHARES = {"luminosity_spread", "text_alpha"}
_COLOURS = set(_KEYS) - {"dark", "ansi", "variables"} - _SHARES
_READABLE, _STRONG = ReadableText(4.5), ReadableText(7)
"""What WCAG asks of text at least, and of text for those who see less."""


class InstalledThemes:
    """Registers themes with a program: first the chosen one, and all when one chooses among them.

    Args:
        app: The program.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._all = False

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

    def take_all(self) -> list[ConfigProblem]:
        """Read all theme files, once; returns their problems."""
        if self._all:
            return []
        self._all = True
        return self._register(theme_files())

    def _register(self, files: Iterable[Path]) -> list[ConfigProblem]:
        themes, problems = load_themes(files)
        for theme in themes:
            self._app.register_theme(theme)
        return problems


def user_themes_folder() -> Path:
    """Where the user's own themes are."""
    return config_folder() / "themes"


def theme_files() -> list[Path]:
    """All theme files. The user's come last, so that they replace shipped ones of the same name."""
    return [
        path for folder in (shipped("themes"), user_themes_folder()) for path in _listed(folder)
    ]


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("*.y*ml"))
    except OSError:  # somebody else's home
        return []


def load_themes(paths: Iterable[Path]) -> tuple[list[Theme], list[ConfigProblem]]:
    """The themes in the files, and the problems of invalid files."""
    themes, problems = [], []
    for path in paths:
        try:
            themes.append(load_theme(path))
        except QuizlogError as error:
            problems.append(
                ConfigProblem(error.where or str(path), error.message, error.hint or "")
            )
    return themes, problems


def theme_names(themes: Iterable[Theme]) -> set[str]:
    """All available themes: these and Textual's own."""
    return {theme.name for theme in themes} | set(BUILTIN_THEMES)


def load_theme(path: Path) -> Theme:
    """Load a theme file.

    Raises:
        QuizlogError: It is not a theme; names the wrong key and the nearest valid one.
    """
    try:
        data, _ = parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise QuizlogError(f"cannot read: {error}", where=str(path)) from None
    if not isinstance(data, dict):
        raise QuizlogError("is not a theme", where=str(path), hint="keys such as name, primary")
    for key, message, hint in _wrong(data):
        raise QuizlogError(f"{key}: {message}", where=str(path), hint=hint)
    theme = Theme(**data)
    _try(theme, path)
    return theme


def _wrong(data: dict[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    """Keys that are missing, unknown, or of the wrong kind."""
    for key in ("name", "primary"):
        if key not in data:
            yield key, "is missing", f"add `{key}: ...`"
    for key, value in data.items():
        if key not in _KEYS:
            yield key, "is not a theme key", did_you_mean(key, _KEYS) or None
        elif key in ("dark", "ansi") and not isinstance(value, bool):
            yield key, "must be true or false", None
        elif key in _SHARES and not _is_share(value):
            yield key, "must be a number from 0 to 1", "such as 0.15"
        elif key == "variables" and not isinstance(value, dict):
            yield key, "must be a mapping", None
        elif key in _COLOURS and not isinstance(value, str):
            yield key, "must be a quoted colour", f'such as {key}: "#7aa2f7"'


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _try(theme: Theme, path: Path) -> None:
    """Use the theme's colours, because an invalid colour is only detected then."""
    for key in sorted(_COLOURS - {"name"}):
        value = getattr(theme, key)
        try:
            Theme(name="try", primary=value or "#000000", ansi=theme.ansi).to_color_system()
        except Exception:
            raise QuizlogError(
                f"{key}: {value!r} is not a colour", where=str(path), hint="#rrggbb or a name"
            ) from None
    for name, value in theme.variables.items():
        sheet = Stylesheet(variables={name: str(value)})
        kind = "text-style" if name.endswith("style") else "color"
        try:
            sheet.add_source(f"* {{ {kind}: ${name}; }}", read_from=("theme", ""))
            sheet.parse()
        except Exception:
            hint = "a colour, or a text style"
            raise QuizlogError(
                f"variables.{name}: {value!r} cannot be used", where=str(path), hint=hint
            ) from None
    theme.to_color_system().generate()
