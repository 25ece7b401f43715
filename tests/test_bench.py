"""The benchmark's table on machines that lack something: no row is lost, each gap says why."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.rows import Row, as_guide_text, at_most, collect, measured, table

BENCH = Path(__file__).parent / "bench"
PEERS = {"dbos", "langgraph", "pexpect"}
"""Only the benchmark's own environment has these."""
LOAD = """
import importlib, sys
split = sys.argv.index("--")
for part in sys.argv[split + 1:]:
    try:
        importlib.import_module(part)
    except ModuleNotFoundError as error:
        if error.name not in sys.argv[1:split]:
            raise
"""


def test_every_part_of_the_benchmark_can_be_loaded() -> None:
    parts = sorted(path.stem for path in BENCH.glob("*.py"))
    command = [sys.executable, "-c", LOAD, *PEERS, "--", *parts]
    root = str(BENCH.parent.parent)  # as where the source is installed editable
    environment = os.environ | {"PYTHONPATH": root}
    subprocess.run(command, cwd=BENCH, env=environment, check=True)


def one() -> Iterator[Row]:
    yield at_most("one", 1.0, 2.0, 4)


def broken() -> Iterator[Row]:
    yield at_most("before it broke", 1.0, 2.0, None)
    raise RuntimeError("no sandbox here: bwrap\n is missing")


def test_a_part_that_fails_says_why_and_the_next_is_measured(tmp_path: Path) -> None:
    target = tmp_path / "results.json"
    rows = collect(measured({"a": broken, "b": one}), target)
    assert [row.what for row in rows] == ["before it broke", "a", "one"]
    assert rows[1].why_empty == "RuntimeError: no sandbox here: bwrap is missing"
    assert "| a |  |  | not measured: RuntimeError: no sandbox" in table(rows)
    assert [row["what"] for row in json.loads(target.read_text())["rows"]] == [
        row.what for row in rows
    ]


def test_a_table_says_when_it_was_measured_and_how_many_goals_are_missed(tmp_path: Path) -> None:
    target = tmp_path / "results.json"
    collect([at_most("one", 2.0, 1.0, 4), at_most("two", 9.0, 1.0, 4)], target)
    text = as_guide_text(target)
    assert re.match(
        r"Measured on \d{4}-\d\d-\d\d \(commit \w*\), Python 3\.\d+\.\S+, \d+ cores:\n", text
    )
    assert "| one | 2.00 s | 1.00 s | 2.00x | at most 4x | ✓ |" in text
    assert text.endswith("Figures that miss their goal: 1 of 2.\n")


def test_results_are_written_as_they_come(tmp_path: Path) -> None:
    target = tmp_path / "results.json"

    def stopped() -> Iterator[Row]:
        yield from one()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(measured({"a": stopped}), target)
    assert [row["what"] for row in json.loads(target.read_text())["rows"]] == ["one"]


@pytest.mark.long
def test_the_rows_of_growth_are_measured_each_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "bench"))  # run as a script there
    growth = importlib.import_module("growth")
    monkeypatch.setattr(growth, "ROUNDS", 1)
    small = {"verify_rows": 2, "export_rows": 2, "diff_rows": 3, "line_rows": 0.001}
    for name, size in small.items():
        own = tmp_path / name
        own.mkdir()
        [row] = getattr(growth, name)(own, size)
        assert row.ratio > 0 and row.must
    parts = growth.parts(tmp_path)
    monkeypatch.setattr(growth, "QUIZLOG", ["false"])
    [row] = [*measured({"gone": parts["diff, 200 answers"]})]
    assert row.what == "gone" and "left with 1" in row.why_empty
