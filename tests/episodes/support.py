"""Runs of a small script whose replay is known, so that many episodes can be built quickly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quizlog_tui.episodes.build.build import BuildSettings, build
from quizlog_tui.episodes.format.hashing import value_hash
from quizlog_tui.episodes.format.triangulate import Answer
from quizlog_tui.episodes.runs.instance import Instance, RecordAttempt
from quizlog_tui.episodes.runs.runs import Replayed, SolverRun, Turn
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError, Record
from quizlog_tui.replay.script.source import Source
from quizlog_tui.replay.transcript import Step, Transcript

SCRIPT = b"""\
print("Welcome")
first = input("What is 2 + 2? ")
if first == "bad":
    raise Exception("no")  #score = 0.5
while True:
    again = input("Go on? ")
    if again == "bad":
        raise Exception("no")
    if again != "more":
        break
"""


@dataclass
class FakeReplayer:
    """What `SCRIPT` does, without running it; `breaks` makes it raise at the end."""

    source: Source
    breaks: bool = False
    observed: tuple[str, ...] = ()

    def replay(self, source: Source, seed: int, inputs: Sequence[str]) -> Transcript:
        return replace(self._replay(inputs), observed=self.observed)

    def _replay(self, inputs: Sequence[str]) -> Transcript:
        source = self.source
        steps: list[Step] = []
        asks = ("What is 2 + 2? ", 2)
        for index, answer in enumerate(inputs):
            written = ("Welcome\n",) if not index else ()
            steps.append(Step(asks[0], written, "", asks[1], answer, source=source))
            asks = ("Go on? ", 6)
            last = index > 0 and answer != "more"
            if answer == "bad" or (last and self.breaks):
                error = LastError("no", 4, 0.5)
                return Transcript(AppendOnlyList(steps), Step(None, (), "", None), "error", error)
            if last:
                return Transcript(AppendOnlyList(steps), Step(None, (), "", None), "success")
        written = () if inputs else ("Welcome\n",)
        pending = Step(asks[0], written, "", asks[1], source=source)
        return Transcript(AppendOnlyList(steps), pending, "in_progress")


SOURCE = Source(Path("/somewhere/quiz.py"), SCRIPT)


def sound(instance: Instance, gold: Replayed) -> None:
    """No run is fragile."""


def solver_run(*answers: str, name: str = "ada", sample: int = 1, **more: Any) -> SolverRun:
    return SolverRun(name, tuple(Turn(answer) for answer in answers), sample, **more)


def own_attempt(*answers: str, extras: dict[str, Any] | None = None, **more: Any) -> RecordAttempt:
    run = solver_run(*answers, name="folder/record.yaml", sample=0, **more)
    record = Record("quiz.py", 7, AppendOnlyList(answers), len(answers), extras=extras or {})
    return RecordAttempt(Path("/somewhere/record.yaml"), record, run)


def episode(
    gold: Sequence[str] = ("4", "end"),
    others: Sequence[Sequence[str]] = (("4", "end"), ("4", "end")),
    *,
    source: Source = SOURCE,
    breaks: bool = False,
    settings: BuildSettings | None = None,
    extras: dict[str, Any] | None = None,
    observed: tuple[str, ...] = (),
    **more: Any,
) -> dict[str, Any]:
    """The episode of a record's run and some models' runs."""
    runs = tuple(solver_run(*one, sample=n) for n, one in enumerate(others, 1))
    instance = Instance(source, 7, (own_attempt(*gold, extras=extras, **more),), runs)
    data: dict[str, Any] = build(instance, FakeReplayer(source, breaks, observed), settings, sound)  # type: ignore[arg-type]
    return data


def answer(value: Any) -> Answer:
    return (None, None) if value is None else (value_hash(value), value)


ONE = episode(("4", "more", "end"), [("4", "end"), ("4", "end"), ("5", "bad"), ("4", "more", "x")])
