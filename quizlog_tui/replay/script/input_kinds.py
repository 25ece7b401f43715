"""The names of the kinds of answers, spelled only here, and the tags by which scripts ask for them.

Other packages can add kinds by entry points of `quizlog.input_kinds`, each named like its tag.
"""

from __future__ import annotations

import re

from ...plugins import INPUT_KINDS, plugin_names

TEXT = "text"
TEXTAREA = "textarea"
"""Several lines of free text, never read as a value."""
YESNO = "yesno"
NUMBER = "number"
INTEGER = "integer"
JSON = "json"
MATRIX = "matrix"
CHOICE = "choice"
RADIO = "radio"
CHECKBOX = "checkbox"
MATRIX_LIST = "matrixlist"
"""Another tag for a matrix."""

KINDS = (TEXT, TEXTAREA, YESNO, NUMBER, INTEGER, JSON, MATRIX, CHOICE, RADIO, CHECKBOX)
"""All kinds except those of plug-ins."""
TAGS = (TEXTAREA, RADIO, CHECKBOX, MATRIX_LIST, MATRIX)
"""The kinds that a comment on the line that asks may name, such as `#textarea`."""
_TAG = re.compile(rf"#\s*({'|'.join(TAGS)}|rows\s*=\s*\d{{1,4}})(?=\s|#|$)")
_WORD = re.compile(r"#([A-Za-z][A-Za-z0-9_-]*)(?=\s|#|$)")


def tags_in(comment: str) -> list[str]:
    """The input tags in a comment, such as `["matrix", "rows=4"]`; those of plug-ins come last."""
    known = [re.sub(r"\s", "", tag) for tag in _TAG.findall(comment)]
    others = [word for word in _WORD.findall(comment) if word not in TAGS]
    if not others:
        return known
    return known + [word for word in others if word in plugin_names(INPUT_KINDS)]


def is_free_text(kind: str) -> bool:
    """Whether answers of a kind are free text, which is not compared as a value."""
    return kind == TEXTAREA
