"""Measures quizlog against floors and peers, prints one table of ratios, leaves the figures as JSON.

Ratios are of medians taken in this run; compared things are measured in turns where they are short.
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import floors
import growth
import peers
from rows import Row, at_most, collect, empty, faster, measured, table

from quizlog_tui.proof.verify import verify
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.checkpoints import private_bytes
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.source import Source, read_source
from quizlog_tui.session.session import Session

HERE = Path(__file__).parent
SCRIPTS = {
    name: HERE / "scripts" / f"{name}.py"
    for name in ("bare", "with_numpy", "two_seconds", "big_heap", "clocks", "real_clocks")
}
HAS = {
    name: importlib.util.find_spec(name) is not None for name in ("langgraph", "dbos", "pexpect")
}


def with_grants(script: Path) -> Source:
    """A script that is allowed what it asks for; without the user's word it runs without."""
    source = read_source(script)
    return replace(source, granted=frozenset(source.asked))


def record(folder: Path, script: Path, count: int) -> Path:
    """A fresh record with `count` answers."""
    shutil.copy(script, folder / script.name)
    path = folder / f"{script.stem}-{count}.yaml"
    path.unlink(missing_ok=True)
    inputs = AppendOnlyList(str(i) for i in range(count))
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
    yield at_most("live step / socket-pair floor", median["short"], median["floor"], 2)
    yield at_most("live step at 10,000 inputs / at 10", median["long"], median["short"], 1.3)
    if HAS["pexpect"]:
        yield faster(
            "live step / pexpect", median["short"], peers.pexpect_step(SCRIPTS["bare"], 100), 1.3
        )
    else:
        yield empty("live step / pexpect", "pexpect is not installed")


def rewind_seconds(script: Path, steps: int, repeats: int) -> float:
    """Median of going back to a random step and giving another answer."""
    chance, source = random.Random(1), with_grants(script)
    with Replayer() as replayer:
        inputs = [str(i) for i in range(steps)]
        replayer.replay(source, 1, inputs)
        times = []
        for index in range(repeats):
            wanted = [*inputs[: chance.randrange(steps)], f"other {index}"]
            start = time.perf_counter()
            replayer.replay(source, 1, wanted)
            times.append(time.perf_counter() - start)
    return statistics.median(times)


REWINDS = {"bare": 2.5, "with_numpy": 2.2, "big_heap": 0.8}
"""Scripts, and how many forks of the same image a rewind may take."""


def rewind_rows(name: str) -> Iterator[Row]:
    """Rewinds, against forks of the same image, and against themselves."""
    script = SCRIPTS[name]
    repeats = 60 if name == "big_heap" else 250
    rounds = [
        (
            rewind_seconds(script, 10, repeats),
            rewind_seconds(script, 1000, repeats),
            floors.fork_seconds(script),
            floors.answering_fork_seconds(script),
        )
        for _ in range(1 if name == "big_heap" else 3)
    ]
    short, at_1000, fork, answering = map(statistics.median, zip(*rounds, strict=True))
    yield at_most(f"rewind and answer at 1,000 / fork floor ({name})", at_1000, fork, REWINDS[name])
    what = f"rewind and answer at 1,000 / a fork that answers one message ({name})"
    yield at_most(what, at_1000, answering, None)
    yield at_most(f"rewind at 1,000 steps / at 10 ({name})", at_1000, short, 1.3)


def peer_rows(folder: Path) -> Iterator[Row]:
    """Rewinds, against the peers."""
    long = rewind_seconds(SCRIPTS["bare"], 1000, 250)
    slow = rewind_seconds(SCRIPTS["two_seconds"], 10, 60)
    naive = peers.naive_rewind(SCRIPTS["two_seconds"], 10, 2)
    yield faster("rewind, two-second script / naive re-run", slow, naive, 300)
    if HAS["langgraph"]:
        _, find, known = peers.langgraph_rewind(1000, folder, 7)
        yield faster("rewind / LangGraph SQLite, finding the stop", long, find, 50)
        yield faster("rewind / LangGraph SQLite, id known", long, known, 4)
        _, memory_find, memory_known = peers.langgraph_rewind(1000, None, 7)
        yield faster("rewind / LangGraph in memory, finding the stop", long, memory_find, None)
        yield faster("rewind / LangGraph in memory, id known", long, memory_known, 2.5)
    else:
        yield empty("rewind / LangGraph", "langgraph is not installed")
    if HAS["dbos"]:
        _, fork = peers.dbos(1000, folder, 5)
        yield faster("rewind / DBOS SQLite fork_workflow", long, fork, None)
    else:
        yield empty("rewind / DBOS SQLite fork_workflow", "dbos is not installed")


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
    for name, least in (("bare", 0.7), ("with_numpy", 0.8)):
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
            f"at least {least}x",
            rate / floor >= least,
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
            "0.8 MB",
            size / 0.8,
            "at most 0.8 MB",
            size <= 0.8,
        )


def cold_rows(folder: Path) -> Iterator[Row]:
    """One answer from a shell, everything started anew."""
    ours = record(folder, SCRIPTS["bare"], 10)
    naive = folder / "naive.yaml"
    quizlog = str(Path(sys.executable).with_name("quizlog"))
    commands = {
        "ours": [quizlog, str(ours), "4"],
        "naive": [sys.executable, str(HERE / "naive_quizlog.py"), str(naive), "4"],
        "version": [quizlog, "--version"],
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
        1.6,
    )
    yield at_most(
        "quizlog RECORD ANSWER, cold / naive alone", median["ours"], median["naive"], None
    )
    yield at_most("quizlog --version / python -c pass", median["version"], median["pass"], 4)


def verify_rows(folder: Path) -> Iterator[Row]:
    """A verdict on 200 steps with numpy, against two plain runs of the same, one after the other."""
    path = record(folder, SCRIPTS["with_numpy"], 200)
    with Session(path) as session:
        session.save()
    plain = [sys.executable, str(folder / "with_numpy.py")]
    answers = "".join(f"{i}\n" for i in range(200)).encode()
    quizlog = str(Path(sys.executable).with_name("quizlog"))

    def naive() -> None:
        for _ in range(2):
            subprocess.run(plain, input=answers, capture_output=True, check=False)

    def called() -> None:
        subprocess.run([quizlog, "verify", str(path)], capture_output=True, check=True)

    times: dict[str, list[float]] = {"naive": [], "verify": [], "called": []}
    calls = {"naive": naive, "verify": lambda: verify(path), "called": called}
    for _ in range(15):
        for name, call in calls.items():
            times[name].append(floors.median_seconds(call, 1))
    median = {name: statistics.median(values) for name, values in times.items()}
    yield at_most("verify, 200 steps / two naive runs", median["verify"], median["naive"], 1.3)
    yield at_most("quizlog verify, cold / two naive runs", median["called"], median["naive"], 1.3)


def watch_rows(folder: Path) -> Iterator[Row]:
    """Looks at every one of 1,000 steps, against one replay of them in a fresh process."""
    path = record(folder, SCRIPTS["bare"], 1000)
    with Session(path) as session:
        source, inputs = session.source, list(session.record.inputs)
        calls: dict[str, Callable[[], object]] = {
            "fresh replay": lambda: replay(source, 1, inputs),
            "a plain expression": lambda: session.watch("i"),
            "an expression in copies": lambda: session.watch("i.__add__(1)"),
            "steps of a line": lambda: session.steps_of_line(str(source.path), 1),
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(5):
            for name, call in calls.items():
                times[name].append(floors.median_seconds(call, 1))
    fresh, *others = ((name, statistics.median(each)) for name, each in times.items())
    for name, seconds in others:
        bound = None if "copies" in name else 10
        yield at_most(f"{name}, 1,000 steps / {fresh[0]}", seconds, fresh[1], bound)


def world_rows() -> Iterator[Row]:
    """A step that reads clocks and chance, in the fixed world and with the real clock."""
    scripts = [with_grants(SCRIPTS[name]) for name in ("clocks", "real_clocks")]
    times: list[list[float]] = [[], []]
    with Replayer(checkpoints=0) as replayer:
        runs = [replayer.replay(script, 1, []) for script in scripts]
        for _ in range(400):
            for index in range(2):
                start = time.perf_counter()
                for _ in range(3):
                    grown = replayer.extend(runs[index], "4")
                    assert grown is not None
                    runs[index] = grown
                times[index].append((time.perf_counter() - start) / 3)
    fixed, real = (statistics.median(column) for column in times)
    yield at_most("step in the fixed world / with the real clock", fixed, real, 1.2)


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
    import sandboxed

    ours, theirs, isolation = sandboxed.warm_against_cold()
    what = f"warm sandboxed run that uses pandas ({isolation}) / cold import of pandas"
    yield faster(what, ours, theirs, 10)


def server_rows() -> Iterator[Row]:
    """The server against FastAPI alone, and very many sessions at once."""
    import served

    for kind, (ours, floor) in served.rates().items():
        bound = kind != served.ANSWERED  # nobody puts a record on disk in the time of no work
        yield Row(
            f"POST /quizlog/next, {kind}" + ("" if "floor" in kind else " / FastAPI, same bytes"),
            f"{ours:.0f}/s",
            f"{floor:.0f}/s",
            ours / floor,
            "at least 0.6x" if bound else "",
            ours / floor >= 0.6 if bound else None,
        )
    for one_seed, what in ((False, "each its own seed"), (True, "one seed")):
        found = served.crowd(1000, 5, one_seed=one_seed)
        held = found["sessions"] == 1000 and not found["lost"]
        what = f"p99 / p50 of a step, 1,000 live sessions, {what}, {found['lost']} lost"
        row = at_most(what, found["p99"], found["p50"], 5)
        yield replace(row, ok=bool(row.ok and held))


def agent_rows() -> Iterator[Row]:
    """Answers over MCP."""
    import agents

    yield from agents.rows()


def look_rows() -> Iterator[Row]:
    """Snapshots and traces."""
    import looks

    yield from looks.rows()


def main() -> None:
    """Measure all, or with `--quick` what takes seconds."""
    quick = "--quick" in sys.argv
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
        os.environ.pop(name, None)  # users' machines cache byte code
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], Iterator[Row]]] = {
            "live steps": lambda: live_rows(folder),
            "durable steps": lambda: durable_rows(folder),
            "many answers from one stop": fan_out_rows,
            "memory of checkpoints": memory_rows,
            "a cold start": lambda: cold_rows(folder),
            "the fixed world": world_rows,
            "verify": lambda: verify_rows(folder),
            "watches": lambda: watch_rows(folder),
            "looks": look_rows,
            "sandboxed runs": sandbox_rows,
        }
        if not quick:
            parts |= {
                "the server": server_rows,
                "agents": agent_rows,
                **{f"rewinds, {name}": partial(rewind_rows, name) for name in REWINDS},
                "rewinds of peers": lambda: peer_rows(folder),
                "endurance": lambda: endurance_rows(100_000, 10_000),
                **growth.parts(folder),
            }
        print(table(collect(measured(parts), HERE / "results.json")))


if __name__ == "__main__":
    main()
