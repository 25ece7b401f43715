"""What an answer that ran as code gave away of itself: told with the evidence, or not at all.

An answer runs as code where a script evaluates it, for example by `eval(input())`; the worker sees
that before the code runs. What such code did is told only as far as the answer's own text, what was
printed right after it, and what was observed of the run agree on it: a suspicion is no tell-tale.
Code that hides its words is told of as code, and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..replay.live_run import ENDED_BY_ANSWER, constants
from ..replay.transcript import Step, Transcript
from ..text import clipped, one_line

Kind = Literal["code", "reads", "ended", "imitates", "files"]
SAYS: dict[Kind, str] = {
    "code": "ran as code",
    "reads": "ran as code that names the script, or a file of it",
    "ended": "ran as code and ended the script before its last line",
    "imitates": "ran as code, and what was printed looks like a line of quizlog",
    "files": "ran as code that writes, and files were written",
}
"""What each kind of tell-tale says of an answer."""

_OWN_TEXT = re.compile(r"__file__|\bgetsource\w*|\blinecache\b|\bargv\b|\bco_consts\b")
"""By what code gets at the text of the script that runs it."""
_WRITES = re.compile(
    r"""\bwrite\w*|\bmkdir\b|\bmakedirs\b|\bsymlink\w*|\bcopy\w*|\btouch\b|,\s*["'][rb]*[wax]"""
)
_FILE_NAME = re.compile(r"[\w./-]*\w\.[A-Za-z]\w{0,5}")
"""A string of a script that is the name of a file."""
_OURS = re.compile(
    r"^(?:-- (?:finished: score |error: |waiting for an answer: )|quizlog: ).*", re.MULTILINE
)
"""Lines that quizlog writes of itself."""
_AROUND = 30
"""Characters of an answer that are quoted before and after the ones that count."""
_MOST = 120
"""Maximum number of characters of a quotation."""


@dataclass(frozen=True)
class TellTale:
    """One thing that an answer gave away."""

    at: int
    """Index of the answer."""
    kind: Kind
    evidence: str
    """A part of the answer, or of what was printed, on one line."""

    @property
    def says(self) -> str:
        """What it tells, in words."""
        return SAYS[self.kind]

    def to_dict(self) -> dict[str, str]:
        """Plain data for JSON."""
        return {"kind": self.kind, "says": self.says, "evidence": self.evidence}


def tell_tales(run: Transcript) -> Iterator[TellTale]:
    """The tell-tales of a run, by answers; of code that did nothing else, that it ran.

    Where the text that ran may be that of several answers, more is told of the last one only.
    """
    last = {used: max(at for at, other in run.code if other == used) for _, used in run.code}
    for at in sorted(run.code_answers):
        answer = run.steps[at].input or ""
        ran = [used for other, used in run.code if other == at and last[used] == at]
        found = dict.fromkeys(tale for used in ran for tale in _worse(run, at, answer, used))
        yield from found or [TellTale(at, "code", _quoted(answer))]


def _worse(run: Transcript, at: int, answer: str, used: int) -> Iterator[TellTale]:
    """What is told of an answer besides that it ran as code."""
    after = run.steps[used] if used < len(run.steps) else run.last
    read = _name_in(answer, after)
    if read is not None:
        yield TellTale(at, "reads", _around(answer, *read))
    if run.error_type == ENDED_BY_ANSWER and used == len(run.steps):
        yield TellTale(at, "ended", _quoted(answer))
    imitated = _OURS.search("".join(after.written))
    if imitated is not None:
        yield TellTale(at, "imitates", _quoted(imitated[0]))
    wrote = _WRITES.search(answer)
    if wrote is not None and (run.tainted == _WROTE or "files" in run.observed):
        yield TellTale(at, "files", _around(answer, *wrote.span()))


_WROTE = "it wrote files"
"""What the worker says of a process that has written files."""


def _name_in(answer: str, step: Step) -> tuple[int, int] | None:
    """Where an answer names the script or one of its files; None if it does not."""
    if found := _OWN_TEXT.search(answer):
        return found.span()
    source = step.source
    names = [source.path.name, *constants(source.text)] if source is not None else []
    for name in names:
        if _FILE_NAME.fullmatch(name) and (start := answer.find(name)) >= 0:
            return start, start + len(name)
    return None


def _around(text: str, start: int, end: int) -> str:
    """A part of a text with a little before and after it."""
    first, last = max(0, start - _AROUND), end + _AROUND
    cut = f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"
    return _quoted(cut)


def _quoted(text: str) -> str:
    return clipped(one_line(text), _MOST)
