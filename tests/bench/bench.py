"""Measures quizlog against floors and peers, prints one table of ratios, leaves the figures as JSON.

Ratios are of medians taken in this run; compared things are measured in turns where they are short.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import floors
import peers
import sandboxed

from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.checkpoints import private_bytes
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.series import Series
from quizlog_tui.session import Session

HERE = Path(__file__).parent
SCRIPTS = {
    name: HERE / "scripts" / f"{name}.py"
    for name in ("bare", "with_numpy", "two_seconds", "big_heap")
}
HAS = {
    name: importlib.util.find_spec(name) is not None for name in ("langgraph", "dbos", "pexpect")
}


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    ours: str
    other: str
    ratio: float
    must: str
    ok: bool | None


def at_most(what: str, ours: float, other: float, bound: float | None) -> Row:
    """Smaller is better: ours at most `bound` times the other."""
    ratio = ours / other
    ok = None if bound is None else ratio <= bound
    must = "" if bound is None else f"at most {bound:g}x"
    return Row(what, _time(ours), _time(other), ratio, must, ok)


def faster(what: str, ours: float, other: float, bound: float | None) -> Row:
    """Ours at least `bound` times as fast as the other."""
    ratio = other / ours
    ok = None if bound is None else ratio >= bound
    must = "" if bound is None else f"at least {bound:g}x faster"
    return Row(what, _time(ours), _time(other), ratio, must, ok)


def _time(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def record(folder: Path, script: Path, count: int) -> Path:
    """A fresh record with `count` answers."""
    shutil.copy(script, folder / script.name)
    path = folder / f"{script.stem}-{count}.yaml"
    path.unlink(missing_ok=True)
    inputs = Series(str(i) for i in range(count))
    RecordFile(path).create(Record(script.name, 1, inputs, count))
    return path


def live_rows(folder: Path) -> Iterator[Row]:
    """A step of a live run: at 10 answers, at 10,000, and the floor, in turns."""
    echo = floors.Echo()
    with (
        Session(record(folder, SCRIPTS["bare"], 10), save=False) as short,
        Session(record(folder, SCRIPTS["bare"], 10_000), save=False) as long,
    ):
        times: dict[str, list[float]] = {"floor": [], "short": [], "long": []}
        calls: dict[str, Callable[[], object]] = {
            "floor": echo.step,
            "short": lambda: short.answer("4"),
            "long": lambda: long.answer("4"),
        }
        for _ in range(400):
            for name, call in calls.items():
                times[name] += [floors.median_seconds(call, 3)]
    echo.close()
    median = {name: statistics.median(values) for name, values in times.items()}
    yield at_most("live step / socket-pair floor", median["short"], median["floor"], 4)
    yield at_most("live step at 10,000 inputs / at 10", median["long"], median["short"], 1.3)
    if HAS["pexpect"]:
        yield faster(
            "live step / pexpect", median["short"], peers.pexpect_step(SCRIPTS["bare"], 100), None
        )


def rewind_seconds(script: Path, steps: int, repeats: int) -> float:
    """Median of going back to a random step and giving another answer."""
    chance = random.Random(1)
    with Replayer() as replayer:
        inputs = [str(i) for i in range(steps)]
        replayer.replay(script, 1, inputs)
        times = []
        for index in range(repeats):
            wanted = [*inputs[: chance.randrange(steps)], f"other {index}"]
            start = time.perf_counter()
            replayer.replay(script, 1, wanted)
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def rewind_rows(folder: Path) -> Iterator[Row]:
    """Rewinds, against forks of the same image, against themselves, against the peers."""
    long = 0.0
    for name in ("bare", "with_numpy", "big_heap"):
        script = SCRIPTS[name]
        repeats = 60 if name == "big_heap" else 250
        rounds = [
            (
                rewind_seconds(script, 10, repeats),
                rewind_seconds(script, 1000, repeats),
                floors.fork_seconds(script),
            )
            for _ in range(1 if name == "big_heap" else 3)
        ]
        short, at_1000, fork = (statistics.median(column) for column in zip(*rounds, strict=True))
        yield at_most(f"rewind and answer at 1,000 / fork floor ({name})", at_1000, fork, 5)
        yield at_most(f"rewind at 1,000 steps / at 10 ({name})", at_1000, short, 1.5)
        long = at_1000 if name == "bare" else long
    slow = rewind_seconds(SCRIPTS["two_seconds"], 10, 60)
    naive = peers.naive_rewind(SCRIPTS["two_seconds"], 10, 2)
    yield faster("rewind, two-second script / naive re-run", slow, naive, 300)
    if HAS["langgraph"]:
        _, find, known = peers.langgraph_rewind(1000, folder, 7)
        yield faster("rewind / LangGraph SQLite, finding the stop", long, find, 50)
        yield faster("rewind / LangGraph SQLite, id known", long, known, 2)
        _, memory_find, memory_known = peers.langgraph_rewind(1000, None, 7)
        yield faster("rewind / LangGraph in memory, finding the stop", long, memory_find, None)
        yield faster("rewind / LangGraph in memory, id known", long, memory_known, None)
    if HAS["dbos"]:
        _, fork = peers.dbos(1000, folder, 5)
        yield faster("rewind / DBOS SQLite fork_workflow", long, fork, None)


def durable_rows(folder: Path) -> Iterator[Row]:
    """An answer that is on disk, against the bytes alone."""
    path = record(folder, SCRIPTS["bare"], 10_000)
    with Session(path) as session:
        session.answer("first")
        ours, floor = [], []
        for _ in range(15):
            ours.append(floors.median_seconds(lambda: session.answer("4"), 5))
            floor.append(floors.write_seconds(folder, path.read_bytes(), 5))
    yield at_most(
        "durable step at 10,000 inputs / write + fsync + rename",
        statistics.median(ours),
        statistics.median(floor),
        3,
    )


def fan_out_rows() -> Iterator[Row]:
    """Many answers from one stop."""
    for name in ("bare", "with_numpy"):
        script = SCRIPTS[name]
        rates = []
        with Replayer() as replayer:
            replayer.replay(script, 1, ["a"])
            for index in range(8):
                answers = [f"{index} {i}" for i in range(64)]
                start = time.perf_counter()
                replayer.fan_out(script, 1, ["a"], answers)
                rates.append(64 / (time.perf_counter() - start))
        rate, floor = statistics.median(rates), 1 / floors.fork_seconds(script)
        yield Row(
            f"64 answers from one stop, forks a second / fork floor ({name})",
            f"{rate:.0f}/s",
            f"{floor:.0f}/s",
            rate / floor,
            "at least 0.3x",
            rate / floor >= 0.3,
        )


def memory_rows() -> Iterator[Row]:
    """What a checkpoint holds for itself after the live run went on."""
    for name in ("bare", "with_numpy", "big_heap"):
        with Replayer() as replayer:
            replayer.replay(SCRIPTS[name], 1, [])
            replayer.replay(SCRIPTS[name], 1, [str(i) for i in range(40)])
            held = [one for one in replayer.checkpoints if one.process.settle()]
            sizes = [private_bytes(one.process.pid) for one in held]
        size = statistics.median(sizes) / 2**20
        yield Row(
            f"memory of a checkpoint ({name})",
            f"{size:.2f} MB",
            "2 MB",
            size / 2,
            "at most 2 MB",
            size <= 2,
        )


def cold_rows(folder: Path) -> Iterator[Row]:
    """One answer from a shell, everything started anew."""
    ours = record(folder, SCRIPTS["bare"], 10)
    naive = folder / "naive.yaml"
    quizlog = str(Path(sys.executable).with_name("quizlog"))
    commands = {
        "ours": [quizlog, str(ours), "4"],
        "naive": [sys.executable, str(HERE / "naive_quizlog.py"), str(naive), "4"],
        "pass": [sys.executable, "-c", "pass"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    answers = "".join(f"- '{i}'\n" for i in range(10))
    naive.write_text(f"script: {SCRIPTS['bare']}\nseed: 1\ninputs:\n{answers}")
    for _ in range(25):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            times[name].append(time.perf_counter() - start)
    median = {name: statistics.median(values) for name, values in times.items()}
    yield at_most(
        "quizlog RECORD ANSWER, cold / naive + python -c pass",
        median["ours"],
        median["naive"] + median["pass"],
        1.5,
    )
    yield at_most(
        "quizlog RECORD ANSWER, cold / naive alone", median["ours"], median["naive"], None
    )


def endurance_rows(steps: int, rewinds: int) -> Iterator[Row]:
    """Descriptors and processes after very many moves."""
    script = SCRIPTS["bare"]
    with Replayer() as replayer:
        transcript = replayer.replay(script, 1, [])
        for i in range(steps):
            extended = replayer.extend(transcript, str(i))
            assert extended is not None
            transcript = extended
        inputs = [str(i) for i in range(200)]
        chance = random.Random(1)
        for i in range(50):
            replayer.replay(script, 2, [*inputs[: chance.randrange(200)], str(-i)])
        before = len(os.listdir("/proc/self/fd"))
        for i in range(rewinds):
            replayer.replay(script, 2, [*inputs[: chance.randrange(200)], f"r{i}"])
        after = len(os.listdir("/proc/self/fd"))
    zombies = subprocess.run(["ps", "-eo", "stat,ppid"], capture_output=True, text=True, check=True)
    mine = sum(line.split()[0].startswith("Z") for line in zombies.stdout.splitlines()[1:])
    leaked = abs(after - before) + mine
    yield Row(
        f"descriptors and zombies left by {steps:,} steps, {rewinds:,} rewinds",
        str(leaked),
        "0",
        float(leaked),
        "about 0",
        leaked <= 12,
    )


def sandbox_rows() -> Iterator[Row]:
    """A sandboxed run whose libraries are loaded, against loading them."""
    ours, theirs, isolation = sandboxed.warm_against_cold()
    what = f"warm sandboxed run that uses pandas ({isolation}) / cold import of pandas"
    yield faster(what, ours, theirs, 10)


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| figure | quizlog | against | ratio | must reach | |", "|---|---|---|---|---|---|"]
    for row in rows:
        mark = {True: "✓", False: "✗", None: ""}[row.ok]
        lines.append(
            f"| {row.what} | {row.ours} | {row.other} | {row.ratio:.2f}x | {row.must} | {mark} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure all, or with `--quick` what takes seconds."""
    quick = "--quick" in sys.argv
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
        os.environ.pop(name, None)  # users' machines cache byte code
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = [
            live_rows(folder),
            durable_rows(folder),
            fan_out_rows(),
            memory_rows(),
            cold_rows(folder),
            sandbox_rows(),
        ]
        if not quick:
            parts += [rewind_rows(folder), endurance_rows(100_000, 10_000)]
        for part in parts:
            for row in part:
                rows.append(row)
                print(
                    f"{row.what}: {row.ours} / {row.other} = {row.ratio:.2f}x {row.must}",
                    file=sys.stderr,
                )
    print(table(rows))
    target = HERE / "results.json"
    target.write_text(
        json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False) + "\n"
    )


if __name__ == "__main__":
    main()
