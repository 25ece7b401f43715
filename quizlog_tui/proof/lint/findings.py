"""The results of `lint` as frozen data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ScriptQuestion:
    """A place in the script that asks."""

    line: int
    prompt: str | None
    """Its text, with `{...}` for computed parts; None if all of it is computed."""
    input_type: str
    """The kind of answer wanted, from tags, parsing and prompt."""
    tags: tuple[str, ...]
    """The tags in the line's comment, such as `rows=4`."""
    reached_from: tuple[int, ...] = ()
    """Lines of the main program that lead to it: its own, or calls of the function it is in."""


@dataclass(frozen=True)
class Ending:
    """A `raise`, an `assert` or a `sys.exit(...)` that can end the run with an error."""

    line: int
    message: str
    """The exception as the script writes it."""
    score: float
    """The partial score in its comment, 0 without one."""
    scored: bool
    """Whether it has its own score comment; else that of a calling line may count."""
    reached_from: tuple[int, ...] = ()
    """As in `ScriptQuestion`."""


@dataclass(frozen=True)
class Trap:
    """Something that prevents runs of the script from being replayed, judged or scored as meant."""

    line: int
    code: str
    """Its kind, such as `own-seed`."""
    reason: str
    """Why it is a trap."""
    mend: str
    """What to write instead."""


@dataclass(frozen=True)
class LintReport:
    """All findings, each list in the order of lines."""

    questions: tuple[ScriptQuestion, ...] = ()
    endings: tuple[Ending, ...] = ()
    traps: tuple[Trap, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "ok": not self.traps,
            "questions": [asdict(question) for question in self.questions],
            "endings": [asdict(ending) for ending in self.endings],
            "traps": [asdict(trap) for trap in self.traps],
        }
