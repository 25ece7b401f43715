"""The record of a quiz on web pages, on the screens: its decisions, its refusals, and its growth."""

from __future__ import annotations

from pathlib import Path

import pytest

from quizlog_tui.files.paths import decisions_path
from quizlog_tui.record.model import MAIN
from quizlog_tui.solver.decision import Decision, ModelQuestion, ModelReply
from quizlog_tui.solver.decision_text import append_decision
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.solver.voting.decide import decide
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.screens.consensus import ConsensusScreen
from quizlog_tui.webquiz.task.task import PageResult
from quizlog_tui.webquiz.task.task_record import TaskRecord
from tests.support.screens import opened, playing, press, settled, shows
from tests.support.task_results import RIGHT, page, sent, task


def write(path: Path, state: str, *pages: PageResult) -> Path:
    TaskRecord(path, Redaction(), lambda text: None).write(task(state, *pages))
    return path


async def test_the_decision_behind_an_answer_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "record.yaml", "finished", RIGHT, RIGHT)
    for at in (0, 1):
        models = tuple(ModelReply(name, "ok", claimed=4) for name in ("ada", "bea"))
        asked = ModelQuestion("How many?", record=path.name, branch=MAIN, pointer=at)
        append_decision(
            decisions_path(path), decide(Decision(f"d-{at}", "2026-11-21", asked, models))
        )
    async with playing(path, size=(120, 40)) as pilot:
        player = await settled(pilot)
        assert player.known.decided == {0, 1}
        await shows(pilot, "The quiz is over: all 2 pages right.")
        await press(pilot, "escape")
        await pilot.press("d")
        await opened(pilot, ConsensusScreen)
        await shows(pilot, "decision 2 of 2 · step 1 of main")


async def test_a_running_task_is_followed(tmp_path: Path) -> None:
    path = write(tmp_path / "record.yaml", "running", page("open"))
    async with playing(path, size=(120, 40), notifications=True) as pilot:
        await shows(pilot, "Page 1: http://quiz.test/q")
        refused = page("open", sent(1, "too few"), sent(2))
        write(path, "running", RIGHT, refused)
        await shows(pilot, "Page 2: http://quiz.test/q")
        write(path, "wrong", RIGHT, page("wrong", sent(1, "too few"), sent(2, "too many")))
        await shows(pilot, "refused: too many")


async def test_the_library_follows_a_running_task_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cafe0123").mkdir()
    path = write(tmp_path / "cafe0123" / "record.yaml", "running", page("open"))
    app = QuizlogApp()
    async with app.run_test(size=(100, 24)) as pilot:
        await shows(pilot, "● waiting 0")
        write(path, "running", RIGHT, page("open"))
        await shows(pilot, "● waiting 1")
        write(path, "finished", RIGHT, RIGHT)
        await shows(pilot, "✓ finished 1 2")
