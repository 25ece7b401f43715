"""Themes from `themes/*.yaml`. Reads and checks them; does not choose."""

from __future__ import annotations

from pathlib import Path

from textual.theme import Theme

from ..errors import QuizlogError
from ..paths import shipped
from ..record.yaml_text import parse


def load_theme(path: Path) -> Theme:
    """One theme file.

    Raises:
        QuizlogError: It is no theme, with the reason.
    """
    data, _ = parse(path.read_text(encoding="utf-8"), str(path))
    try:
        theme = Theme(**data)
        theme.to_color_system().generate()
    except Exception as error:
        raise QuizlogError(f"is no theme: {error}", where=str(path)) from None
    return theme


def shipped_themes() -> list[Theme]:
    """The themes that come with quizlog."""
    return [load_theme(path) for path in sorted(shipped("themes").glob("*.yaml"))]
