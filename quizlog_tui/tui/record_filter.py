"""Which records a library shows: `score>0.5 script:survey author:ann verdict:wrong words`. Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..record.summary import Preview, Summary, preview

_SCORE = re.compile(r"score(<=|>=|=|<|>)([0-9]*\.?[0-9]+)")
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
_NAMES = ("script", "author", "verdict")
HOW = "Show which? score>0.5 script:NAME author:NAME verdict:wrong, and words"
"""The question for a filter, which says how one is written."""


@dataclass(frozen=True)
class RecordFilter:
    """What a record must have to be shown; empty parts ask for nothing."""

    text: str = ""
    """The filter as it was typed."""
    scores: tuple[tuple[str, float], ...] = ()
    """Comparisons that its score must pass; a record without a score passes none."""
    script: str = ""
    author: str = ""
    """Part of the name of somebody who made a note."""
    verdict: str = ""
    words: tuple[str, ...] = ()
    """Words in its name, script, error, question, last printed text and notes."""

    def takes(self, one: Summary, read: Callable[[Summary], Preview]) -> bool:
        """Whether a record is shown; its file is read only if the filter asks for what is in it."""
        if not all(one.score is not None and _COMPARED[s](one.score, x) for s, x in self.scores):
            return False
        if self.script.lower() not in (one.script or "").lower():
            return False
        if not (self.author or self.verdict or self.words):
            return True
        found = read(one)
        return self._has_note(found) and self._has_words(one, found)

    def _has_note(self, found: Preview) -> bool:
        """Whether one note is by the author and has the verdict."""
        return not (self.author or self.verdict) or any(
            self.author.lower() in (note.author or "").lower()
            and self.verdict in ("", note.verdict)
            for note in found.notes
        )

    def _has_words(self, one: Summary, found: Preview) -> bool:
        notes = (note.text for note in found.notes)
        said = (str(one.path), one.script, one.problem, found.error, found.question)
        text = "\n".join(filter(None, (*said, *found.printed, *notes))).lower()
        return all(word.lower() in text for word in self.words)


def taken(wanted: RecordFilter, every: Iterable[Summary]) -> list[Path]:
    """The paths of the records that a filter takes; reads files, so it may take a while."""
    return [one.path for one in every if wanted.takes(one, preview)]


def parse_filter(text: str) -> RecordFilter:
    """Read a filter as it is typed.

    Raises:
        UsageError: A part of it has an unknown form.
    """
    scores, named, words = [], dict[str, str](), []
    for part in text.split():
        name, colon, value = part.partition(":")
        if match := _SCORE.fullmatch(part):
            scores.append((match[1], float(match[2])))
        elif colon and name in _NAMES and value:
            named[name] = value
        elif part.startswith("score") and part[5:6] in "<>=" and part[5:6]:
            raise UsageError(f"{part!r} compares with no number", hint="such as score>=0.5")
        else:
            words.append(part)
    return RecordFilter(text.strip(), tuple(scores), **named, words=tuple(words))
