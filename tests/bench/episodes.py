"""What building, checking and listing episodes cost: `python -m tests.bench.episodes [MB [RECORDS]]`.

Checking and listing a file against `json.loads` of each of its lines, in processes of their own so
that peak memory can be seen; building from solved records against replaying them. Medians of
interleaved rounds; the ratios are what counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from quizlog_tui.episodes.build.build import BuildSettings
from quizlog_tui.episodes.build.make import make
from quizlog_tui.episodes.format.hashing import episode_id, question_id, to_line
from quizlog_tui.episodes.read.files import read_episodes
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer

ROUNDS = 3
QUIZ = """\
import random
print("Five sums.")
for number in range(5):
    a, b = random.randint(2, 12), random.randint(2, 12)
    if int(input(f"{number}. {a} + {b} = ")) != a + b:
        raise Exception("wrong")  #score = 0.2
    print("Right.")
"""
LIST = """
from quizlog_tui.episodes.read.index import EpisodeFile
file = EpisodeFile(path)
while file.read_some(): pass
"""
READ = {
    "loads": "for line in open(path, 'rb'): json.loads(line)",
    "check": "from quizlog_tui.episodes.read.check import check_file; assert check_file(path).ok",
    "list": LIST,
}
TIMED = """
import json, resource, sys, time
from pathlib import Path
path = Path(sys.argv[1])
import quizlog_tui.episodes.read.check
began = time.process_time()
{work}
spent = time.process_time() - began
print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def solved(folder: Path, count: int) -> list[Path]:
    """Records of one script with seeds of their own, each solved."""
    script = folder / "quiz.py"
    script.write_text(QUIZ)
    found = []
    with Replayer(checkpoints=0) as replayer:
        for seed in range(count):
            answers: list[str] = []
            while (prompt := replayer.replay(script, seed, answers).next_prompt) is not None:
                left, right = prompt.split(". ")[1].split(" = ")[0].split(" + ")
                answers.append(str(int(left) + int(right)))
            path = folder / f"{seed}.yaml"
            RecordFile(path).create(
                Record(script.name, seed, AppendOnlyList(answers), len(answers))
            )
            found.append(path)
    return found


def replay_all(records: list[Path]) -> None:
    """The floor: read each record and replay it."""
    with Replayer(checkpoints=0) as replayer:
        for path in records:
            record = RecordFile(path).read()
            run = replayer.replay(path.parent / record.script, record.seed, record.inputs)
            assert run.status == "success"


def building(folder: Path, count: int) -> None:
    """Print what building costs against replaying."""
    records = solved(folder, count)
    spent: dict[str, list[float]] = {"replay": [], "build": []}
    for number in range(ROUNDS):
        began = time.perf_counter()
        replay_all(records)
        spent["replay"].append(time.perf_counter() - began)
        began = time.perf_counter()
        made = make(records, folder / f"{number}.jsonl", BuildSettings(), lambda *told: None)
        spent["build"].append(time.perf_counter() - began)
        assert made.episodes == count
    times = {name: median(found) for name, found in spent.items()}
    ratio = times["build"] / times["replay"]
    print(f"build {count}: {times['build']:.2f} s / replay {times['replay']:.2f} s = {ratio:.2f}x")


def big_file(folder: Path, megabytes: int) -> Path:
    """A file of many episodes that differ."""
    records = solved(folder, 1)
    record = RecordFile(records[0]).read()
    runs = [folder / f"{name}.yaml" for name in "abcd"]
    for path in runs:
        RecordFile(path).create(replace(record, extras={"execution_id": path.stem}))
    make(runs, folder / "one.jsonl", BuildSettings(), lambda *told: None)
    [base] = read_episodes(folder / "one.jsonl")
    path, number = folder / "big.jsonl", 0
    with open(path, "w", encoding="utf-8") as file:
        while file.tell() < megabytes * 2**20:
            number += 1
            file.write(f"{to_line(_varied(base, number))}\n")
    size = path.stat().st_size
    print(f"{size / 2**20:.0f} MB, {number} lines of {size / number / 1024:.1f} kB")
    return path


def _varied(base: dict[str, Any], number: int) -> dict[str, Any]:
    one: dict[str, Any] = json.loads(json.dumps(base))
    text = f"{one['question']['question_text']} ({number})"
    one["question"] |= {"question_text": text, "id": question_id(text, None)}
    one["conversation_for_sft"]["messages"][0]["content"] = text
    one["episode_id"] = episode_id(one["question"]["id"], one["teacher_gold_trace"])
    return one


def checking(path: Path) -> None:
    """Print what checking and listing cost against reading."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in READ}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    for _ in range(ROUNDS):
        for name, work in READ.items():
            command = [sys.executable, "-c", TIMED.format(work=work), str(path)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env=environment
            )
            seconds, memory = map(float, done.stdout.split())
            spent[name].append((seconds, memory))
    times = {name: median(seconds for seconds, _ in found) for name, found in spent.items()}
    for name in ("check", "list"):
        memory = max(most for _, most in spent[name])
        ratio = times[name] / times["loads"]
        print(
            f"{name} {times[name]:.2f} s / json.loads {times['loads']:.2f} s = {ratio:.2f}x "
            f"(processor time), peak memory {memory:.0f} MB"
        )


def main(megabytes: int = 100, records: int = 1000) -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        building(Path(folder), records)
    with TemporaryDirectory() as folder:
        checking(big_file(Path(folder), megabytes))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
