"""A run: one solver's answers to a questionnaire from its first question on, and its replay.

Episodes are made of runs, whether by a person, a model or a program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

from ...replay.script.input_kinds import TEXT, is_free_text
from ...replay.script.input_type import parsed_kind
from ...replay.transcript import Step, Transcript
from ...solver.voting.equality import answer_value

Replay = Callable[[Sequence[str], str | None], Transcript]
"""Gives the transcript for answers and a start of the clocks, for one script and seed."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Turn:
    """One answer, and how the solver found it."""

    answer: str
    """The text given to the script."""
    code: str | None = None
    """The Python code that computed it."""
    explanation: str | None = None
    """The solver's own words."""


@dataclass(frozen=True)
class SolverRun:
    """One solver's answers, in order. Their outcome is found by replaying them."""

    name: str
    """The solver: the name of a model or of a record."""
    turns: tuple[Turn, ...]
    """The answers."""
    sample: int = 0
    """The number of the run among those of the solver."""
    rejected: tuple[tuple[int, Turn, str], ...] = ()
    """Answers that the script refused, in order: index of the question, answer, error message."""
    reconciled: bool = False
    """Whether an answer was given after seeing other models' answers."""
    run_id: str | None = None
    """Identifies the execution; copies of a run have the same one."""
    start_time: str | None = None
    """The start of its clocks; None for the default. Questions may depend on it, so a replay uses
    the same."""
    broken: str | None = None
    """Why the run was interrupted, for example by a lost connection; it is not a valid run then."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The answers' texts."""
        return tuple(turn.answer for turn in self.turns)

    def sort_key(self) -> tuple[str, int, str, str]:
        """Sort key: solver, then number, then answers."""
        return (self.name, self.sample, json.dumps(self.inputs), self.run_id or "")


def run_of(data: Any) -> SolverRun:
    """The run that was stored as JSON.

    Raises:
        TypeError: It is not a run, or a part has another type.
        KeyError: A part is missing.
        ValueError: A refused answer has not three parts.
    """
    parts = dict(_of(dict, data))
    turns = tuple(map(_turn_of, _of(list, parts.pop("turns"))))
    rejected = tuple(
        (_of(int, at), _turn_of(turn), _of(str, said)) for at, turn, said in parts.pop("rejected")
    )
    run = SolverRun(**parts, turns=turns, rejected=rejected)
    for kind, value in ((str, run.name), (int, run.sample), (bool, run.reconciled)):
        _of(kind, value)
    for text in (run.run_id, run.start_time, run.broken):
        _of((str, NoneType), text)
    return run


def _turn_of(data: Any) -> Turn:
    turn = Turn(**_of(dict, data))
    _of(str, turn.answer)
    _of((str, NoneType), turn.code)
    _of((str, NoneType), turn.explanation)
    return turn


def _of(kind: type | tuple[type, ...], value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"a part is a {type(value).__name__}")
    return value


@dataclass(frozen=True)
class Replayed:
    """A run with the transcript of its replay."""

    run: SolverRun
    transcript: Transcript

    @property
    def success(self) -> bool:
        """Whether the script finished and used every answer, of which there is at least one."""
        used = 0 < len(self.transcript.steps) == len(self.run.turns)
        return self.transcript.status == "success" and used

    @property
    def accepted(self) -> tuple[Step, ...]:
        """The steps whose answers the script accepted."""
        steps = tuple(self.transcript.steps)
        return steps[:-1] if self.transcript.status == "error" else steps

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The accepted turns."""
        return self.run.turns[: len(self.accepted)]

    @property
    def final_answer(self) -> object:
        """The value of the last answer; None if the run failed."""
        return step_answer(self.accepted[-1]) if self.success else None


def step_answer(step: Step) -> object:
    """The value of the answer given at a step, read as the script itself reads it."""
    line = step.source.line(step.line) if step.source and step.line else ""
    kind = step.input_type if is_free_text(step.input_type) else parsed_kind(line)
    return answer_value(clean(step.input or ""), kind or TEXT)


def shown(step: Step) -> str:
    """What a solver sees before it answers: the text printed since the last answer, and the prompt.

    Line ends are LF, white space at the end is removed, and lone surrogates are replaced.
    """
    text = "".join(step.written) + (step.prompt or "")
    return clean(text.replace("\r\n", "\n")).rstrip()


def clean(text: str) -> str:
    """The text with lone surrogates replaced, as a UTF-8 file cannot contain them."""
    return _SURROGATE.sub("\ufffd", text)


def is_text(text: str) -> bool:
    """Whether a UTF-8 file can contain the text."""
    return _SURROGATE.search(text) is None


def script_name(path: Path) -> str:
    """The name of a file in an episode: the file and its folder, without the path to the folder."""
    return clean(f"{path.absolute().parent.name}/{path.name}")
