"""Measures what each short cut in reading a record buys: `python tests/bench/readers.py`.

A short cut that buys nothing has no reason to be there. Each is timed against the thorough way in
turns, in processor time where one process does all the work.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rows import Row, collect, faster, measured, table

from quizlog_tui.record import summary, yaml_text
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.new_record import new_record
from quizlog_tui.session.session import Session

HERE = Path(__file__).parent
ROUNDS = 15


def record(folder: Path, count: int) -> Path:
    """A record with `count` answers, as a session writes it."""
    path = folder / f"{count}.yaml"
    texts = AppendOnlyList(f"line {index}" for index in range(count))
    answers = AppendOnlyList(map(str, range(count)))
    marks = AppendOnlyList(f"0123456789ab Answer {index}? " for index in range(count + 1))
    path.unlink(missing_ok=True)
    whole = Record("quiz.py", 1, answers, count, print=texts, trail=marks)
    RecordFile(path).create(whole)
    return path


def in_turns(*calls: Callable[[], object], clock: Callable[[], float]) -> list[float]:
    """The median time of each call, measured in turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, found in zip(calls, times, strict=True):
            started = clock()
            call()
            found.append(clock() - started)
    return [statistics.median(found) for found in times]


def text_rows(folder: Path) -> Iterator[Row]:
    """The reader of our own YAML, against PyYAML."""
    for count in (10, 10_000):
        text = record(folder, count).read_text(encoding="utf-8")
        ours, thorough = in_turns(
            lambda text=text: yaml_text.parse_own(text),
            lambda text=text: yaml_text.parse(text, ""),
            clock=time.process_time,
        )
        yield faster(f"own_yaml, {count:,} answers / PyYAML", ours, thorough, None)


def cold_rows(folder: Path) -> Iterator[Row]:
    """One cold command without the reader of our own YAML, and without the early interpreter."""
    script, target = folder / "quiz.py", folder / "cold.yaml"
    script.write_text("for number in range(20):\n    input(f'{number}? ')\n")
    new_record(script, target, 1)
    with Session(target) as session:
        session.answer("4")
    start = "from quizlog_tui import cli\n"
    without = {
        "own_yaml": "from quizlog_tui.record import document\n"
        "document.parse_own = lambda text: None\n",
        "prestart": "cli._prestart = lambda words: None\n",
    }

    def run(patch: str) -> Callable[[], object]:
        code = f"{start}{patch}raise SystemExit(cli.main())"
        words = [sys.executable, "-c", code, str(target)]
        return lambda: subprocess.run(words, check=True, capture_output=True)

    ours, *others = in_turns(run(""), *map(run, without.values()), clock=time.perf_counter)
    for name, other in zip(without, others, strict=True):
        yield faster(f"quizlog RECORD, cold / without {name}", ours, other, None)


def summary_rows(folder: Path) -> Iterator[Row]:
    """A library's line about a record, against reading all of it."""
    for count in (2_000, 20_000):
        path = record(folder, count)
        whole = lambda path=path: RecordFile(path).read()  # noqa: E731
        skim, thorough = in_turns(
            lambda path=path: summary.summary(path), whole, clock=time.process_time
        )
        yield faster(f"summary, {count:,} answers / whole record", skim, thorough, None)


def main() -> None:
    """Measure all."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], Iterator[Row]]] = {
            "text": lambda: text_rows(folder),
            "cold": lambda: cold_rows(folder),
            "summary": lambda: summary_rows(folder),
        }
        print(table(collect(measured(parts), folder / "readers.json")))


if __name__ == "__main__":
    main()
