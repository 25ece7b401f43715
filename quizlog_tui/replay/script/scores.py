"""Reads partial scores from comments, such as `#score = 0.5`, and tells what is nearly one.

A text is matched, never evaluated. Capitals count like small letters.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_PARTS = re.compile(r"#[^#]{0,200}")
"""Parts of a comment; a longer one is cut, so that time stays bounded."""
_SCORE = re.compile(r"#\s*score\s*(?:=\s*([^\s#()]+)|\(\s*([^\s#()]+)\s*\))(?=\s|$)(.*)", re.I)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_GOES_ON = re.compile(r"\s*(%|[/*]\s*\d)")
"""What makes another number of the one before it."""
_NAME = r"#[^\w#]*(?:partial[\W_]*)?scores?"
_MEANT = re.compile(
    _NAME + r"(?:\s*=|\W*[:(\[]\W*\d|[\W_]*(?:(?:is|of)\b)?\W*[\d.,]*\d\s*%?\W*$)", re.I
)
"""What is meant as a score wherever it stands: `#score 0.5`, `# Scores: 50 %`, `#score = (1)`."""
_HINTED = re.compile(_NAME + r"(?![a-z])|#.*\bscores?\b.*\d", re.I)
"""What may be meant as one where a score is wanted."""
_FIRST_NUMBER = re.compile(r"\d*\.?\d+")


class Score(NamedTuple):
    """What a comment says about a score."""

    value: float | None
    """The score; None if it is not legal."""
    problem: str = ""
    """Why it is not."""
    mend: str = "write a number from 0 to 1, as `#score = 0.5`"


MISPLACED = Score(
    None,
    "the score is not on the statement that raises and was ignored",
    "write it behind the statement that raises",
)


def score_in(comment: str, *, wanted: bool) -> Score | None:
    """The score in a comment, the first legal one if there are several; None if it has none.

    Args:
        comment: The comment.
        wanted: Whether it is on a statement that raised: prose about a score is a mistake there.
    """
    found = [score for part in _PARTS.findall(comment) if (score := _read(part, wanted))]
    return next((score for score in found if not score.problem), found[0] if found else None)


def _read(part: str, wanted: bool) -> Score | None:
    match = _SCORE.match(part)
    if match and not _GOES_ON.match(match[3]):
        return _legal(match[1] or match[2])
    if (_HINTED if wanted else _MEANT).match(part):
        number = _FIRST_NUMBER.search(part)
        mended = number and _legal(number[0]).value is not None and "%" not in part
        said = f"`{part.strip()}` is no score"
        return Score(None, said, f"write `#score = {number[0]}`") if mended else Score(None, said)  # type: ignore[index]
    return None


def _legal(text: str) -> Score:
    if not _NUMBER.fullmatch(text):
        return Score(None, f"the score {text!r} is not a number and was ignored")
    value = float(text)
    if not 0 <= value <= 1:
        return Score(None, f"the score {text} is outside 0..1 and was ignored")
    return Score(value)
