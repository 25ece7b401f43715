"""Looks at a script: lines noted against lines run, and a snapshot against a rewind."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rows import Row, at_most

from quizlog_tui.debug import lines, values
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.session.session import Session

ARITHMETIC = """
total = i = 0
while i < 12_400:
    total += i * 3
    i += 1
    square = i * i
"""
GROWING = """
found = []
for i in range(24_900):
    found.append(i)
"""
ASKING = 'i = 0\nwhile True:\n    print("answer", input(f"question {i}? "))\n    i += 1\n'
NOTED = 60 if sys.version_info < (3, 12) else 15


def rows() -> Iterator[Row]:
    """All that is measured of looks."""
    noted, plain = _noted(ARITHMETIC), _seconds(lambda: _run(ARITHMETIC))
    yield at_most("noting 50,000 lines of arithmetic / running them", noted, plain, NOTED)
    what = "quizlog's whole trace of 50,000 lines of arithmetic / running them"
    yield at_most(what, _traced(ARITHMETIC), plain, None)
    seconds = _traced(GROWING)
    what, must = "trace of 50,000 lines with a list that grows", "at most 3 s"
    yield Row(what, f"{seconds:.2f} s", "3 s", seconds / 3, must, seconds <= 3)
    yield at_most("snapshot at a step of 1,000 / rewind and answer", *_snapshots(), 3)


def _seconds(call: Callable[[], object]) -> float:
    """The least processor time of a call: what others run at the same time only adds to it."""
    times = []
    for _ in range(5):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def _run(text: str) -> None:
    exec(compile(text, "quiz.py", "exec"), {"__name__": "__main__"})


def _noted(text: str) -> float:
    names: dict[str, Any] = {}
    for module in (values, lines):
        exec(Path(str(module.__file__)).read_text(encoding="utf-8"), names)

    def note() -> None:
        trace = names["LineTrace"](lambda path: "" if path == "quiz.py" else None)
        trace.begin([], whole=True)
        _run(text)
        trace.end()

    return _seconds(note)


def _session(folder: Path, text: str, answers: int, replayer: Replayer) -> Session:
    (folder / "quiz.py").write_text(text, encoding="utf-8")
    inputs = AppendOnlyList(str(i) for i in range(answers))
    RecordFile(folder / "record.yaml").create(Record("quiz.py", 1, inputs, answers))
    return Session(folder / "record.yaml", replayer, save=False)


def _traced(text: str) -> float:
    """Seconds of a trace, from the call until its events are there."""
    times = []
    with tempfile.TemporaryDirectory() as name, Replayer() as replayer:
        whole = f"input('? ')\n{text}input('? ')\n"
        with _session(Path(name), whole, 1, replayer) as session:
            for _ in range(3):
                start = time.perf_counter()
                assert len(session.trace().events) > 49_000
                times.append(time.perf_counter() - start)
    return min(times)


def _snapshots() -> tuple[float, float]:
    """Median seconds of a snapshot, and of going back to a step and giving another answer."""
    with tempfile.TemporaryDirectory() as name, Replayer() as replayer:
        session = _session(Path(name), ASKING, 1000, replayer)
        session.reply()
        chance = random.Random(1)
        both = [_snapshot(session, replayer, chance.randrange(1, 1000)) for _ in range(60)]
        session.close()
    looks, rewinds = zip(*both, strict=True)
    return statistics.median(looks), statistics.median(rewinds)


def _snapshot(session: Session, replayer: Replayer, step: int) -> tuple[float, float]:
    inputs = [*map(str, range(step)), f"other {step}"]
    start = time.perf_counter()
    replayer.replay(session.source, 1, inputs)
    between = time.perf_counter()
    session.inspect(step)
    return time.perf_counter() - between, between - start
