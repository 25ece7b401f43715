"""Reads, checks and reloads themes from YAML files: shipped ones and the user's own.

All invalid files are reported together; they never stop the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from textual.css.stylesheet import Stylesheet
from textual.theme import BUILTIN_THEMES, Theme

from ...config import ConfigProblem, config_folder
from ...errors import QuizlogError, did_you_mean
from ...files.paths import shipped
from ...record.yaml_text import parse

DEFAULT = "quizlog-dark"
"""The default theme."""
_KEYS = [one.name for one in fields(Theme)]


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


_SHARES = {"luminosity_spread", "text_alpha"}
_COLOURS = set(_KEYS) - {"dark", "ansi", "variables"} - _SHARES


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
