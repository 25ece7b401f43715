"""Verdicts in words on the screens: each has a sign and a word, and says what it is based on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.proof.diverge import Difference
from quizlog_tui.proof.drift import BranchDrift, DriftReport
from quizlog_tui.proof.proven import Evidence, ProvenRecord
from quizlog_tui.proof.verdict import NotJudged, Verdict
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Branch, Record
from quizlog_tui.replay.script.source import Source
from quizlog_tui.tui.draw.verdict import (
    basis_lines,
    drift_grid,
    drift_title,
    fit_lines,
    value_shown,
    verdict_lines,
    verdict_text,
)
from tests.support.recorded_runs import run

ALONE = Record("quiz.py", 1, AppendOnlyList(["a", "b"]), 2)
TWO = replace(ALONE, branches={"other": Branch("main", 1, AppendOnlyList(["x", "y"]))})
RUN = run([([], "a? "), ([], "b? ")])


def proven(record: Record, kind: Any, *place: Any, **more: Any) -> ProvenRecord:
    about = Evidence(record, Source(Path("/nowhere/quiz.py"), b""), {})
    return ProvenRecord(Verdict(kind, *place, **more), about)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (proven(ALONE, "reproducible"), "✓ reproducible"),
        (proven(TWO, "reproducible", branches=2), "✓ reproducible"),
        (proven(TWO, "reproducible", fits="all"), "✓ reproducible, though the script was edited"),
        (
            proven(ALONE, "reproducible", not_judged=(NotJudged(None, "nothing is recorded"),)),
            "✓ reproducible; 1 part not judged",
        ),
        (
            proven(ALONE, "fragile", 12, "print", cause="hash-order"),
            "~ fragile: hash-order at step 12",
        ),
        (
            proven(TWO, "fragile", 1, "print", cause="clock"),
            "~ fragile: clock at step 1 of main",
        ),
        (proven(ALONE, "diverges", 12, "prompt"), "✗ diverges at step 12: prompt"),
        (
            proven(TWO, "diverges", 2, "outcome", branch="other"),
            "✗ diverges at step 2 of other: outcome",
        ),
        (
            proven(ALONE, "unverifiable", reason="it asks for the real clock"),
            "? unverifiable: it asks for the real clock",
        ),
        (proven(ALONE, "unverifiable", reason="a\n" * 40), f"? unverifiable: {'a⏎' * 23}a…"),
    ],
)
def test_the_line_at_the_top_has_the_verdict_in_a_few_words(found: ProvenRecord, text: str) -> None:
    assert verdict_text(found) == text


def test_a_verdict_that_is_not_kept_says_so() -> None:
    found = proven(ALONE, "diverges", 1, "print")
    found = replace(found, about=replace(found.about, beside=None))
    assert verdict_text(found) == "✗ diverges at step 1: print, when verified"
    assert "is not kept" in text_of(found)


def text_of(found: ProvenRecord) -> str:
    lines = [*verdict_lines(found), *basis_lines(found, Path("/home/ann/my quiz/my record.yaml"))]
    return "\n".join(line.text for line in lines)


def test_it_says_what_was_judged_and_varied_and_what_it_does_not_say() -> None:
    said = text_of(proven(TWO, "reproducible", branches=2, alone=2))
    assert "Replayed to the end: 2 branches, main with 2 answers, other with 3 answers." in said
    assert "the order of hashes; the clock; the order of addresses in memory" in said
    assert "Replayed alone: all 2 branches." in said
    assert "not who gave them" in said
    assert said.endswith("In a shell: quizlog verify 'my record.yaml'")
    assert "/home" not in said  # a browser need not know where it lies


def test_what_a_script_does_openly_was_not_varied() -> None:
    said = text_of(proven(ALONE, "reproducible", observed=("system",)))
    assert "the clock" in said and "where this was changed" in said
    assert "/proc, /sys)." not in said.partition("Compared")[0]


def test_a_difference_is_named_with_its_step_and_its_sides_once() -> None:
    found = proven(
        TWO, "diverges", 1, "prompt", "a? ", "b? ", "code-changed", "the script was changed"
    )
    said = text_of(found)
    assert said.startswith("✗ diverges at step 1 (prompt, code-changed): the script was changed")
    assert "The question at step 1" in said
    assert "recorded: " not in said and "replayed: " not in said  # they stand side by side
    assert "Replayed to" not in said


def test_what_is_compared_is_shown_as_text() -> None:
    assert value_shown("print", None) == "(nothing)"
    assert value_shown("print", "in_progress") == "in_progress"
    assert value_shown("outcome", "in_progress") == "waiting"
    assert value_shown("outcome", 0.5) == "0.5"


DIFFERS = BranchDrift("other", 3, 1, Difference(1, "prompt", "b? ", "c? "), RUN, 4)
AGREES = BranchDrift("main", 2, 2, None, RUN, 3)


def test_each_branch_says_how_far_it_fits() -> None:
    grid = drift_grid([AGREES, DIFFERS])
    grid.starts(80)
    assert [grid[index].text.split("  ")[0] for index in (0, 1)] == ["✓ main", "≠ other"]
    assert "2 of 2" in grid[0].text
    assert "1 of 3" in grid[1].text and "the question at step 1" in grid[1].text
    said = [line.text for line in fit_lines(DIFFERS)]
    assert said[1] == "1 of 3 answers agrees, then the question at step 1 was 'b? ', is 'c? '"
    assert said[-1] == "The question at step 1"
    assert [line.text for line in fit_lines(AGREES)] == ["main", "all of 2 answers agree"]
    unknown = replace(AGREES, known=1)
    assert [*fit_lines(unknown)][1].text == "2 answers, nothing differs in the 1 step known"


def test_the_script_and_its_files_are_named_if_they_changed() -> None:
    assert drift_title(DriftReport(False, (AGREES,))) == "the script is as recorded"
    said = drift_title(DriftReport(True, (AGREES,), (("sums.py", "edited"),)))
    assert said == "the script has changed; sums.py: changed since the record was written"
