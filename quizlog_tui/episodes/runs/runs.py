"""A run: one solver's answers to one questionnaire, from its first question on, and its replay.

What an episode is made of, whoever answered: a person, a model, a program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...replay.script.input_kinds import is_free_text
from ...replay.transcript import Step, Transcript
from ..format.hashing import canonical_answer

Replay = Callable[[Sequence[str], str | None], Transcript]
"""Answers, and where the clocks start, to transcript; for one script and seed."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Turn:
    """One answer, and how the solver came to it."""

    answer: str
    """The text given to the script."""
    code: str | None = None
    """The Python code that computed it."""
    explanation: str | None = None
    """The solver's own words."""


@dataclass(frozen=True)
class SolverRun:
    """One solver's answers, in order. What they lead to is found out by replaying them."""

    name: str
    """Who answered: a model's name, or the record's."""
    turns: tuple[Turn, ...]
    """The answers."""
    sample: int = 0
    """Which of that solver's runs it is."""
    rejected: tuple[tuple[int, Turn, str], ...] = ()
    """Answers the script refused, in order: index of the question, the answer, what it said."""
    reconciled: bool = False
    """Whether an answer was given after seeing other models' answers."""
    run_id: str | None = None
    """Names the run itself; copies of one run count once."""
    start_time: str | None = None
    """Where its clocks started, as its record says; None for the usual start. What a script asks
    may depend on it, so it is replayed with the same."""
    broken: str | None = None
    """Why the run stopped for no reason of its own, such as a lost connection: it is no run yet."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The answers' texts."""
        return tuple(turn.answer for turn in self.turns)

    def sort_key(self) -> tuple[Any, ...]:
        """Solver, then sample, then what was answered: an order that is always the same."""
        return (self.name, self.sample, json.dumps(self.inputs), self.run_id or "")


@dataclass(frozen=True)
class Replayed:
    """A run with what the script does on its answers."""

    run: SolverRun
    transcript: Transcript

    @property
    def success(self) -> bool:
        """Whether the script finished, and used every answer, of which there was one."""
        used = 0 < len(self.transcript.steps) == len(self.run.turns)
        return self.transcript.status == "success" and used

    @property
    def accepted(self) -> tuple[Step, ...]:
        """The steps whose answers the script went on from."""
        steps = tuple(self.transcript.steps)
        return steps[:-1] if self.transcript.status == "error" else steps

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The accepted turns."""
        return self.run.turns[: len(self.accepted)]

    @property
    def final_answer(self) -> Any:
        """The canonical value of the last answer; None where the run did not end well."""
        return step_answer(self.accepted[-1]) if self.success else None


def step_answer(step: Step) -> Any:
    """The canonical value of the answer given at a step."""
    return canonical_answer(clean(step.input or ""), declared_text=is_free_text(step.input_type))


def shown(step: Step) -> str:
    """What a solver sees before it answers: all that was printed since, and the prompt.

    Line ends are LF, white space at the end is dropped, and what is no Unicode text replaced.
    """
    text = "".join(step.written) + (step.prompt or "")
    return clean(text.replace("\r\n", "\n")).rstrip()


def clean(text: str) -> str:
    """The text with lone surrogates, which no UTF-8 file can hold, replaced."""
    return _SURROGATE.sub("\ufffd", text)


def is_text(text: str) -> bool:
    """Whether a UTF-8 file can hold it."""
    return _SURROGATE.search(text) is None
