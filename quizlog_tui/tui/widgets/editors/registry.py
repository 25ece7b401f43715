"""Maps kinds of answers to inputs; all other kinds use the plain line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from ....plugins import INPUT_KINDS, broken, load_plugin, plugin_names
from ....replay.script.input_kinds import JSON, KINDS, MATRIX, TEXTAREA
from ....replay.script.input_type import InputType
from .editor import Editor


def _fits_any(kind: InputType, text: str) -> bool:
    return True


def _holds_any(answer: str) -> bool:
    return True


@dataclass(frozen=True)
class EditorKind:
    """How to create an input, and what it fits."""

    make: Callable[[], Editor]
    """Creates it; its module is loaded only then, because few questions need it."""
    fits: Callable[[InputType, str], bool] = _fits_any
    """Whether it fits a question, given its kind and the printed text with the question."""
    holds: Callable[[str], bool] = _holds_any
    """Whether it can show a whole answer."""
    plugin: str = ""
    """Name of the plug-in that provides it; empty for a built-in one."""


def _box() -> Editor:
    from .text_box import TextBox

    return TextBox()


def _matrix() -> Editor:
    from .matrix import MatrixGrid

    return MatrixGrid()


def _fits_matrix(kind: InputType, text: str) -> bool:
    from .matrix import is_small, size_in

    return is_small(*size_in(text, kind.rows))


def _holds_matrix(answer: str) -> bool:
    from .matrix import holds

    return holds(answer)


BOX = EditorKind(_box)
EDITORS = {
    TEXTAREA: BOX,
    JSON: BOX,
    MATRIX: EditorKind(_matrix, _fits_matrix, _holds_matrix),
}
"""The inputs by kind of answer."""


def editor_for(kind: InputType, text: str) -> EditorKind | None:
    """The input for a question; None if the plain line fits best.

    Args:
        kind: What kind of answer it wants.
        text: What was printed before it, and its own text.
    """
    found = EDITORS.get(kind.name) or _plugin_editor(kind.name) or (BOX if kind.rows else None)
    return found if found is not None and found.fits(kind, text) else None


_REFUSED: set[str] = set()
"""The plug-ins that failed, by their names; their inputs are not made again."""


def refuse_plugin(name: str) -> bool:
    """Make the input of a plug-in no more; False if it was refused before."""
    fresh = name not in _REFUSED
    _REFUSED.add(name)
    _plugin_editor.cache_clear()
    return fresh


@cache
def _plugin_editor(name: str) -> EditorKind | None:
    """The input from a plug-in; None if the kind is built in."""
    if name in KINDS or name in _REFUSED or name not in plugin_names(INPUT_KINDS):
        return None
    return EditorKind(partial(_create_editor, name), plugin=name)


def _create_editor(name: str) -> Editor:
    """The input of a plug-in.

    Raises:
        ConfigError: It cannot be loaded.
    """
    found = load_plugin(INPUT_KINDS, name)
    if not (isinstance(found, type) and issubclass(found, Editor)):
        raise broken(INPUT_KINDS, name, TypeError("it is not a subclass of Editor"))
    editor = found()
    editor.plugin = name
    _check_style(editor)
    return editor


def _check_style(editor: Editor) -> None:
    """Parse its style apart from that of the screens, which one with a fault would spoil.

    Raises:
        ValueError: It has a fault.
    """
    from textual.css.stylesheet import Stylesheet, StylesheetParseError

    sheet = Stylesheet(variables=editor.app.get_css_variables())
    sheet.add_source(editor.DEFAULT_CSS)
    try:
        sheet.parse()
    except StylesheetParseError:  # its own text is made for a terminal of many lines
        raise ValueError("its DEFAULT_CSS cannot be parsed") from None
