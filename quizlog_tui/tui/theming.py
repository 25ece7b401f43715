"""Themes from YAML files, shipped ones and the user's own, and what makes drawn lines readable.

All invalid theme files are reported together; they never stop the program. Themes choose colours,
and Textual blends them, also with those that a script chose: no theme can foresee all pairs. So
text with too little contrast gets another colour, and what is no text, such as borders, bars and
blocks, keeps its own. For a terminal that shows only ASCII, signs become ASCII of the same width.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import BLACK, WHITE, Color
from textual.css.stylesheet import Stylesheet
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES, Theme

from ..config import ConfigProblem, config_folder
from ..errors import QuizlogError, did_you_mean
from ..files.paths import shipped
from ..record.yaml_text import parse

_TEXT = re.compile("[^\\s\u2500-\u259f]")
"""Any character but spaces, lines and blocks."""
_STEPS = 20
"""Colours tried between that of a text and black or white."""
_KNOWN = {ColorType.TRUECOLOR, ColorType.EIGHT_BIT}
"""Colours that look alike in every terminal."""
_PAIRS = (
    ("─━╌╴╶╸╺⎯‐–—−", "-"),
    ("│┃▌▐▍▎▏▊▋▉", "|"),
    ("▁", "_"),
    ("▂▃·⋅", "."),
    ("▄▅", "="),
    ("▆▇█▔▀░▒▓", "#"),
    ("“”", '"'),
    ("‘’", "'"),
    ("»›→▸▶☞⁹", ">"),
    ("«‹←◂◀", "<"),
    ("↑▲", "^"),
    ("↓▼▾✓", "v"),
    ("●◆★✎", "*"),
    ("○", "o"),
    ("✗×", "x"),
    ("÷", "/"),
    ("≠", "!"),
    ("…⋯", "~"),
    ("⏎", "\\"),
    ("␡", "D"),
)


def _luminance(color: Color) -> float:
    """How light a colour is, from 0 to 1, as WCAG defines it."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4

    r, g, b = map(linear, color.normalized)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours, from 1 to 21, as WCAG defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def readable(ink: Color, ground: Color, least: float) -> Color:
    """The colour nearest to that of a text that has enough contrast, or the best there is."""
    pole = max(WHITE, BLACK, key=lambda each: contrast(each, ground))
    tried = (ink.blend(pole, step / _STEPS) for step in range(_STEPS))
    return next((each for each in tried if contrast(each, ground) >= least), pole)


@lru_cache(4096)
def _readable_style(style: Style, ground: Color, least: float) -> Style:
    ink, own_ground = style.color, style.bgcolor
    if own_ground is not None and not own_ground.is_default:
        if own_ground.type not in _KNOWN:
            return style
        ground = _color(own_ground)
    if ink is None or ink.type not in _KNOWN or ground.ansi is not None:
        return style
    shown = _color(ink)
    if style.dim:  # terminals dim as they like
        shown, style = ground.blend(shown, 0.66), style + Style(dim=False)
    return style + Style(color=readable(shown, ground, least).rich_color)


def _color(color: RichColor) -> Color:
    return Color(*color.get_truecolor())


class _ReadableText(LineFilter):
    """Gives text that has less than the `least` contrast another colour."""

    def __init__(self, least: float) -> None:
        super().__init__()
        self._least = least

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments, with text that can be read."""
        return [
            Segment(text, _readable_style(style, background, self._least), control)
            if style is not None and _TEXT.search(text)
            else segment
            for segment in segments
            for text, style, control in (segment,)
        ]


class _Table(dict[int, str]):
    """Computes the replacement of each character on first use."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        found = sign if code < 0x80 else "+" if 0x2500 <= code < 0x2580 else "?" * cell_len(sign)
        self[code] = found
        return found


_STAND_INS = _Table({ord(sign): plain for signs, plain in _PAIRS for sign in signs})


def to_ascii(text: str) -> str:
    """Replace each non-ASCII character of a text, keeping its width."""
    return text if text.isascii() else text.translate(_STAND_INS)


def shows_signs(stream: TextIO | None) -> bool:
    """Whether a stream can encode the signs that the screens use."""
    try:
        "─│╭●✓▏".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class AsciiFilter(LineFilter):
    """Draws every line in ASCII only."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments with replaced characters."""
        return [Segment(to_ascii(text), style, control) for text, style, control in segments]


DEFAULT = "quizlog-dark"
_KEYS = [one.name for one in fields(Theme)]
_SHARES = {"luminosity_spread", "text_alpha"}
_COLOURS = set(_KEYS) - {"dark", "ansi", "variables"} - _SHARES
_READABLE, _STRONG = _ReadableText(4.5), _ReadableText(7)
"""What WCAG asks of text at least, and of text for those who see less."""


class InstalledThemes:
    """Registers themes with a program: first the chosen one, and all to choose among them."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._all = False

    @property
    def readable(self) -> _ReadableText:
        """Draws text so that it can be read; contrast themes promise more."""
        return _STRONG if "contrast" in self._app.theme else _READABLE

    def take_first(self, asked: str, remembered: str) -> list[ConfigProblem]:
        """Apply the theme asked for, else the one remembered ("" for none); returns its problems.

        Reading all theme files would take a fifth of the time to the first frame.
        """
        wanted = asked or remembered or DEFAULT
        files = [path for path in _theme_files() if path.stem in (wanted, DEFAULT)]
        if wanted not in BUILTIN_THEMES and wanted not in {path.stem for path in files}:
            files = _theme_files()  # a file may be named otherwise than its theme
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
        return self._register(_theme_files())

    def _register(self, files: Iterable[Path]) -> list[ConfigProblem]:
        themes, problems = load_themes(files)
        for theme in themes:
            self._app.register_theme(theme)
        return problems


def _theme_files() -> list[Path]:
    """All theme files. The user's come last, so that they replace shipped ones of the same name."""
    folders = (shipped("themes"), config_folder() / "themes")
    return [path for folder in folders for path in _listed(folder)]


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


def known_themes() -> tuple[set[str], list[ConfigProblem]]:
    """The names of all themes, Textual's own among them, and the problems of invalid files."""
    themes, problems = load_themes(_theme_files())
    return {theme.name for theme in themes} | set(BUILTIN_THEMES), problems


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
