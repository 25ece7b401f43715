"""Maps kinds of answers to inputs; all other kinds use the plain line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....replay.script.input_kinds import JSON, MATRIX, TEXTAREA
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
    found = EDITORS.get(kind.name) or (BOX if kind.rows else None)
    return found if found is not None and found.fits(kind, text) else None
