"""Measures the screens in a real pseudo-terminal, against bare Textual programs, as ratios."""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from rows import Row, at_most, collect, measured, table

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.support.terminal import Terminal, quizlog

HERE = Path(__file__).parent
BARE = [sys.executable, str(HERE / "bare_app.py")]
SCRIPT = """
for i in range(100000):
    print(f"step {i}: " + "lorem ipsum dolor sit amet " * WORDS)
    input(f"answer {i}? ")
"""


def make_record(folder: Path, steps: int, words: int) -> Path:
    """A record with so many answers, its output written in it."""
    from quizlog_tui.record.append_only_list import AppendOnlyList
    from quizlog_tui.record.lock import locked
    from quizlog_tui.record.store import RecordFile
    from quizlog_tui.session.new_record import new_record
    from quizlog_tui.session.session import Session

    script = folder / f"quiz-{steps}-{words}.py"
    script.write_text(SCRIPT.replace("WORDS", str(words)))
    path = script.with_suffix(".yaml")
    new_record(script, path, 1)
    file = RecordFile(path)
    empty = file.read()
    with locked(path):
        inputs = AppendOnlyList(str(i) for i in range(steps))
        file.write(replace(empty, inputs=inputs, pointer=steps))
    with Session(path) as session:
        session.save()
    return path


def first_frame(command: list[str], mark: str) -> float:
    """Seconds from the start of a program until a text is painted."""
    with Terminal(command, (120, 40)) as terminal:
        return terminal.wait_for(mark) - terminal.started


def first_key(command: list[str], mark: str, answer: bytes) -> float:
    """Seconds from the start of a program until a key has acted that is pressed at first sight."""
    with Terminal(command, (120, 40)) as terminal:
        terminal.wait_for(mark)
        while not re.search(answer, terminal.seen):  # one frame may show what several keys did
            terminal.send("h")  # what is pressed before the screen is painted is not taken
            terminal.read(0.02)
        return time.perf_counter() - terminal.started


def in_turns(calls: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Medians of several measurements, taken in turns."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            found[name].append(call())
    return {name: statistics.median(values) for name, values in found.items()}


def start_rows(folder: Path) -> Iterator[Row]:
    """Start to first frame, and opening a long record."""
    short, long = make_record(folder, 10, 74), make_record(folder, 10_000, 74)
    median = in_turns(
        {
            "bare": lambda: first_frame([*BARE, "panes"], "Output"),
            "ours": lambda: first_frame(quizlog("tui", str(short)), "Output"),
            "short": lambda: first_frame(quizlog("tui", str(short)), "step 10:"),
            "long": lambda: first_frame(quizlog("tui", str(long)), "step 10000:"),
            "key": lambda: first_key(quizlog("tui", str(long)), "of 10000", rb"step 9\d+ of"),
            "ready": lambda: first_frame(quizlog("tui", str(long)), "Question at step"),
        },
        7,
    )
    yield at_most(
        "start to first frame / bare Textual, same widgets", median["ours"], median["bare"], 1.3
    )
    yield at_most(
        "opening 10,000 steps, 20 MB / 10 steps, first text", median["long"], median["short"], 1.5
    )
    yield at_most(
        "10,000 steps, 20 MB: a key has acted / first text", median["key"], median["long"], 1.5
    )
    yield at_most(
        "the same until replayed / 10 steps, first text", median["ready"], median["short"], None
    )


def key_times(command: list[str], mark: str, answers: Callable[[int], str]) -> list[float]:
    """Seconds from each key to the frame that shows what it did.

    Args:
        command: The program.
        mark: What stands on its first screen.
        answers: What the screen says after so many keys.
    """
    with Terminal(command, (120, 40)) as terminal:
        terminal.wait_for(mark)
        terminal.quiet(1.0)
        terminal.send("\x1b")
        terminal.quiet(0.5)
        found = []
        for number in range(60):
            start = time.perf_counter()
            terminal.send("hl"[number % 2])
            found.append(terminal.wait_for(answers(number)) - start)
            terminal.quiet(0.1)
        return found


def key_rows(folder: Path) -> Iterator[Row]:
    """Key to painted frame."""
    short, long = make_record(folder, 40, 4), make_record(folder, 10_000, 5)
    times: dict[str, list[float]] = {"bare": [], "ours": [], "long": []}
    for _ in range(3):
        times["bare"] += key_times([*BARE, "empty"], "pressed", lambda n: f"pressed {n + 1}")
        times["ours"] += key_times(
            quizlog("tui", str(short)), "of 40", lambda n: f"step {40 - (n + 1) % 2} of"
        )
        times["long"] += key_times(
            quizlog("tui", str(long)), "of 10000", lambda n: f"step {10_000 - (n + 1) % 2} of"
        )
    p95 = {name: statistics.quantiles(values, n=20)[-1] for name, values in times.items()}
    yield at_most("key to painted frame, p95 / empty screen", p95["ours"], p95["bare"], 1.5)
    yield at_most("the same at 10,000 steps / empty screen", p95["long"], p95["bare"], None)


async def timeline_seconds() -> dict[str, float]:
    """CPU of moves in 100,000 rows."""
    from bare_app import TimelineApp

    app = TimelineApp(100_000)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        view = app.query_one("#timeline")

        async def cpu(act: Callable[[], object]) -> float:
            start = time.process_time()
            act()
            await pilot._wait_for_screen()
            return time.process_time() - start

        found = {
            "page down": await cpu(lambda: view.action_move_page(1)),
            "end": await cpu(lambda: view.action_move_to("end")),
        }
        start = time.process_time()
        await pilot.resize_terminal(100, 30)
        found["resize"] = time.process_time() - start
        found["theme switch"] = await cpu(lambda: setattr(app, "theme", "nord"))
        return found


def timeline_rows() -> Iterator[Row]:
    """Each under 100 ms of CPU."""
    for name, seconds in asyncio.run(timeline_seconds()).items():
        yield at_most(f"100,000 timeline rows: {name}, CPU / 100 ms", seconds, 0.1, 1)


def main() -> None:
    """Measure all."""
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_STATE_HOME"] = name
        folder = Path(name)
        parts = {
            "keys": lambda: key_rows(folder),
            "start": lambda: start_rows(folder),
            "timeline": timeline_rows,
        }
        print(table(collect(measured(parts), HERE / "results-screens.json")))


if __name__ == "__main__":
    main()
