"""What a picture costs: as much as there is to see and to read, not as much as lines are long."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.build import Build
from tests.support.terminal import quizlog

QUIZZES = {
    "one line": "print('x' * int(input('size? ')))\ninput('more? ')\n",
    "words": "print('word ' * (int(input('size? ')) // 5))\ninput('more? ')\n",
    "accents and CJK": "print('é日' * (int(input('size? ')) // 2))\ninput('more? ')\n",
    "a question": "size = int(input('size? '))\ninput('is it. do you ' * (size // 14))\n",
}
LINES = """
for number in range(int(input("lines? "))):
    print(f"line {number:8} with some words in it and a good deal to say")
input("more? ")
"""
FLOOR = """
import sys
from pathlib import Path
from quizlog_tui.record.store import RecordFile

record = RecordFile(Path(sys.argv[1])).read()
RecordFile(Path(sys.argv[1] + ".copy.yaml")).create(record)
"""


def cpu(command: Sequence[str], stdin: str = "") -> float:
    """Seconds of processor time that a command and its children take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=stdin, text=True, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.long
@pytest.mark.parametrize("kind", QUIZZES)
def test_a_line_of_megabytes_costs_hardly_more_than_a_short_one(kind: str, build: Build) -> None:
    script = build.script(QUIZZES[kind])
    records = []
    for size in (70, 2_000_000):
        path = build.folder / f"{size}.yaml"
        subprocess.run(quizlog("new", str(script), "-o", str(path)), check=True)
        subprocess.run(quizlog(str(path), str(size)), stdout=subprocess.DEVNULL, check=True)
        records.append(path)
    rounds = [[cpu(quizlog("screenshot", str(path))) for path in records] for _ in range(2)]
    short, long = (min(times) for times in zip(*rounds, strict=True))
    assert long < 1.6 * short  # 1.1 where nothing else runs


@pytest.mark.long
def test_nine_megabytes_in_a_step_cost_what_writing_and_reading_them_does(build: Build) -> None:
    script, path = build.script(LINES), build.folder / "record.yaml"
    size = "150000\n"
    plain = cpu([sys.executable, str(script)], f"{size}\n")
    subprocess.run(quizlog("new", str(script), "-o", str(path)), check=True)
    answering = cpu(quizlog(str(path), "--stdin", "--new"), size.strip())
    floor = plain + cpu([sys.executable, "-c", FLOOR, str(path)])
    assert Path(f"{path}.copy.yaml").stat().st_size > 9_000_000
    assert answering < 5 * floor  # 2 where nothing else runs
    assert cpu(quizlog("screenshot", str(path))) < 8 * floor  # 3.5
