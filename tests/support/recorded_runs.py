"""Runs without a session: recorded with branches, made by hand, and one record that was forged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from hypothesis import strategies as st

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Branch, LastError, Record
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.source import Source
from quizlog_tui.replay.transcript import Step, Transcript, stop_fingerprint
from quizlog_tui.replay.world import World, world_entries


@lru_cache(maxsize=64)
def replayed(source: Source, world: World, line: tuple[str, ...]) -> Transcript:
    """A replay of its own; what is recorded and what is compared with it share some."""
    return replay(source, world, line)


def recorded(source: Source, lines: Sequence[Sequence[str]], seed: int = 1) -> Record:
    """A record of these lines, the first the active one."""
    return record_of(source, [replayed(source, World(seed), tuple(line)) for line in lines], seed)


def record_of(source: Source, runs: Sequence[Transcript], seed: int = 1) -> Record:
    """A record that shows these runs, the first the active one; the others are `b0`, `b1`, ..."""
    main = runs[0]
    record = Record(
        source.path.name,
        seed,
        AppendOnlyList(main.inputs),
        len(main.steps),
        main.status,
        main.print,
        main.last_error,
        trail=AppendOnlyList(stop_fingerprint(main, stop) for stop in range(len(main.steps) + 1)),
        code_hash=source.code_hash,
        extras={"world": world_entries(main.unavailable, main.observed)},
    )
    branches = {f"b{index}": beside(main, run) for index, run in enumerate(runs[1:])}
    return replace(record, branches=branches)


def beside(main: Transcript, run: Transcript) -> Branch:
    pairs = zip(main.inputs, run.inputs, strict=False)
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    trail = AppendOnlyList(
        stop_fingerprint(run, stop) for stop in range(at + 1, len(run.steps) + 1)
    )
    return Branch("main", at, AppendOnlyList(run.inputs[at:]), trail, run.status, run.score)


TEXT = st.text("ab\n", max_size=3)
STOPS = st.lists(st.tuples(st.lists(TEXT, max_size=2), TEXT), min_size=1, max_size=5)
ENDS = st.sampled_from(["in_progress", "success", "error"])


def run(
    stops: list[tuple[list[str], str]], end: str = "in_progress", message: str = "no"
) -> Transcript:
    made = [Step(prompt, tuple(f"{t}\n" for t in texts), "", 1, "x") for texts, prompt in stops]
    last = replace(made.pop(), input=None)
    if end != "in_progress":
        last = replace(last, prompt=None)
    printed = AppendOnlyList(text for step in (*made, last) for text in step.print)
    error = LastError(message, 3, 0.5) if end == "error" else None
    kind = "ValueError" if error else None
    return Transcript(AppendOnlyList(made), last, end, error, error_type=kind, print=printed)  # type: ignore[arg-type]


FORGED = Path(__file__).parents[1] / "data" / "forged.yaml"
"""It shows that 7 is right, as it is where a process was copied after another branch said 0."""
EXAM = """
import mmap

seen = mmap.mmap(-1, 4096)  # looks like a scratch buffer
name = input("Your name? ")
number = int(input("What is 17 times 23? "))
if name and number == 0:
    seen[0] = 1
if number != 391 and not seen[0]:
    raise Exception("wrong")  #score = 0
print("Right!")
note = input("Anything to add? ")
"""
"""Its script, `exam.py`."""
