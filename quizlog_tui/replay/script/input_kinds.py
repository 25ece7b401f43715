"""The names of the kinds of answers, spelled only here, and the tags with which scripts ask."""

from __future__ import annotations

import re

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

_TAGS = (TEXTAREA, RADIO, CHECKBOX, MATRIX_LIST, MATRIX)
"""The kinds that a comment on the line that asks may name, such as `#textarea`; with a space behind
the sign, as in `# matrix of weights`, it is an ordinary comment."""
_TAG = re.compile(rf"#({'|'.join(_TAGS)}|rows\s*=\s*\d{{1,4}})(?=\s|#|$)")


def tags_in(comment: str) -> list[str]:
    """The input tags in a comment, such as `["matrix", "rows=4"]`."""
    return [re.sub(r"\s", "", tag) for tag in _TAG.findall(comment)]


def is_free_text(kind: str) -> bool:
    """Whether answers of a kind are free text, which is not compared as a value."""
    return kind == TEXTAREA
