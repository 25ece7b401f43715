"""Measures how cost grows with branches, answers and bytes: `python tests/bench/growth.py`.

Processor time of commands and all that they start, as ratios: medians of rounds in turns. Parts
stand alone, so that one that fails leaves the others be.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from rows import Row, at_most, collect, faster, measured, table

from quizlog_tui.session.new_record import new_record
from quizlog_tui.session.session import Session

HERE = Path(__file__).parent
QUIZLOG = [sys.executable, "-m", "quizlog_tui"]
ROUNDS = 3
QUESTIONS = """
said = ""
for i in range(100000):
    print(f"step {i}, you said {said}")
    said = input(f"answer {i}? ")
"""
LINE = "print('x' * int(input('size? ')))\ninput('more? ')\n"
LINES = """
for number in range(int(input("lines? "))):
    print(f"line {number:8} with some words in it and a good deal to say")
input("more? ")
"""
LINES_OF_9_MB = "150000"
COPY = """
import sys
from pathlib import Path
from quizlog_tui.record.store import RecordFile

path = Path(sys.argv[1])
RecordFile(path.with_suffix(".copy.yaml")).create(RecordFile(path).read())
"""
COMPUTES = """
while True:
    sum(range(1_000_000))
    input("next? ")
"""
WALK = """
import sys
from quizlog_tui.replay import walkers
from pathlib import Path
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.script.source import read_source

walkers.at_once = lambda limits: int(sys.argv[2])
lines = [["on"] * (branch % 8) + [f"other {branch}"] * 3 for branch in range(64)]
with Replayer() as replayer:
    assert len(list(replayer.walk(read_source(Path(sys.argv[1])), 1, lines))) == len(lines)
"""
ANSWERS = 30
"""Answers of the longest branch of a record with many."""


def cpu(*command: str, stdin: str = "", codes: Sequence[int] = (0,)) -> float:
    """Seconds of processor time that a command and its children take.

    Args:
        command: The command.
        stdin: What it reads.
        codes: The exit codes of one that did its work.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=stdin, text=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in codes:
        raise RuntimeError(f"{command} left with {done.returncode}: {done.stderr[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wall(*command: str) -> float:
    """Seconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def in_turns(*calls: Callable[[], float]) -> list[float]:
    """Medians of several measurements, taken in turns."""
    rounds = [[call() for call in calls] for _ in range(ROUNDS)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def branched(folder: Path, branches: int) -> Path:
    """A record with so many branches beside the first, each another answer at some step."""
    path = record(folder / f"branches-{branches}.yaml", QUESTIONS)
    with Session(path, save=False) as session:
        for i in range(ANSWERS):
            session.answer(f"a{i}")
        for number in range(branches):
            session.switch("main")
            session.fork(number % ANSWERS, f"b{number}")
        session.switch("main")
        session.save()
    return path


def answered(path: Path, answers: int, word: str) -> Path:
    """A record with so many answers, of which none is another word's."""
    record(path, QUESTIONS)
    with Session(path, save=False) as session:
        for i in range(answers):
            session.answer(f"{word}{i}")
        session.save()
    return path


def record(path: Path, script: str, *answers: str) -> Path:
    """A record of a script of its own, with some answers."""
    source = path.with_suffix(".py")
    source.write_text(script)
    new_record(source, path, 1)
    for answer in answers:
        cpu(*QUIZLOG, str(path), answer)
    return path


def verify_rows(folder: Path, branches: int) -> Iterator[Row]:
    """Verifying all branches, against the longest alone."""
    many, one = branched(folder, branches), branched(folder, 0)
    ours, alone = in_turns(
        partial(cpu, *QUIZLOG, "verify", str(many)), partial(cpu, *QUIZLOG, "verify", str(one))
    )
    what = f"verify, {branches:,} branches / 3x the longest alone + 5 ms a branch"
    yield at_most(what, ours, 3 * alone + 0.005 * branches, 1)


def export_rows(folder: Path, branches: int) -> Iterator[Row]:
    """Exporting all branches, against one."""
    many, one = branched(folder, branches), branched(folder, 0)
    command, to = (*QUIZLOG, "export", "--force"), ("-o", str(folder / "report.html"))
    ours, alone = in_turns(
        partial(cpu, *command, str(many), *to), partial(cpu, *command, str(one), *to)
    )
    what = f"export, {branches:,} branches / the longest alone + 3 ms a branch"
    yield at_most(what, ours, alone + 0.003 * branches, 1)


def diff_rows(folder: Path, answers: int) -> Iterator[Row]:
    """Two records that differ in every answer, against showing one."""
    a, b = (answered(folder / f"{word}-{answers}.yaml", answers, word) for word in "ab")
    ours, shown = in_turns(
        partial(cpu, *QUIZLOG, "diff", str(a), str(b), codes=(3,)), partial(cpu, *QUIZLOG, str(a))
    )
    yield at_most(f"diff, {answers:,} answers, all others / showing one", ours, shown, 2)


def line_rows(folder: Path, megabytes: float) -> Iterator[Row]:
    """A picture of a very long line, against a short one."""
    size = f"{megabytes * 1e6:.0f}"
    long = record(folder / f"line-{size}.yaml", LINE, size)
    short = record(folder / f"short-{size}.yaml", LINE, "70")
    ours, other = in_turns(
        partial(cpu, *QUIZLOG, "screenshot", str(long)),
        partial(cpu, *QUIZLOG, "screenshot", str(short)),
    )
    yield at_most(f"screenshot, a line of {megabytes:g} MB / a short one", ours, other, 1.2)


def step_rows(folder: Path) -> Iterator[Row]:
    """A step of 9 MB: answering and a picture, against the script alone, writing and reading."""
    path = record(folder / "step.yaml", LINES, LINES_OF_9_MB)
    copy = path.with_suffix(".copy.yaml")

    def answering() -> float:
        cpu(*QUIZLOG, "rewind", str(path), "0")
        return cpu(*QUIZLOG, str(path), LINES_OF_9_MB, "--new")

    def floor() -> float:
        copy.unlink(missing_ok=True)
        script = cpu(sys.executable, str(path.with_suffix(".py")), stdin=f"{LINES_OF_9_MB}\n\n")
        return script + cpu(sys.executable, "-c", COPY, str(path))

    ours, picture, least = in_turns(
        answering, partial(cpu, *QUIZLOG, "screenshot", str(path)), floor
    )
    against = "the script, and its record written and read"
    yield at_most(f"answer that leads to 9 MB in a step / {against}", ours, least, 1.3)
    yield at_most(f"screenshot of it / {against}", picture, least, 1.6)


def walker_rows(folder: Path, walkers: int) -> Iterator[Row]:
    """Walking through branches that compute: time and processor time, against one walker."""
    script = folder / "computes.py"
    script.write_text(COMPUTES)
    walk = (sys.executable, "-c", WALK, str(script))
    ours, one = in_turns(partial(wall, *walk, str(walkers)), partial(wall, *walk, "1"))
    yield faster(f"64 branches that compute, at most {walkers} walkers / 1, time", ours, one, None)
    ours, one = in_turns(partial(cpu, *walk, str(walkers)), partial(cpu, *walk, "1"))
    what = f"64 branches that compute, at most {walkers} walkers / 1, processor time"
    yield at_most(what, ours, one, 1.3)


def parts(folder: Path) -> dict[str, Callable[[], Iterator[Row]]]:
    """All that is measured, by name; each makes its records in a folder of its own."""
    named: list[tuple[str, Callable[[Path], Iterator[Row]]]] = []
    for branches in (10, 100, 1000):
        named.append((f"verify, {branches} branches", partial(verify_rows, branches=branches)))
        named.append((f"export, {branches} branches", partial(export_rows, branches=branches)))
    for answers in (200, 2000, 20_000):
        named.append((f"diff, {answers} answers", partial(diff_rows, answers=answers)))
    for megabytes in (0.5, 2, 5):
        named.append((f"a line of {megabytes} MB", partial(line_rows, megabytes=megabytes)))
    named.append(("9 MB in a step", step_rows))
    for walkers in (2, 4):
        named.append((f"{walkers} walkers", partial(walker_rows, walkers=walkers)))
    return {name: partial(_in_own, rows, folder) for name, rows in named}


def _in_own(rows: Callable[[Path], Iterator[Row]], folder: Path) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(dir=folder) as own:
        yield from rows(Path(own))


def main() -> None:
    """Measure all."""
    with tempfile.TemporaryDirectory() as folder:
        print(table(collect(measured(parts(Path(folder))), HERE / "results-growth.json")))


if __name__ == "__main__":
    main()
