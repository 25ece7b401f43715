"""What tasks share, and what each is given of it."""

from __future__ import annotations

from pathlib import Path

from quizlog_tui.sandbox.result import SandboxLimits
from quizlog_tui.webquiz.task.settings import TaskSettings
from quizlog_tui.webquiz.task.task import TaskRequest
from quizlog_tui.webquiz.task.task_context import Budget
from quizlog_tui.webquiz.task.task_runner import TaskRunner
from tests.solver.panels import panel


async def test_tasks_share_the_turns_of_their_models() -> None:
    runner = TaskRunner(TaskSettings(max_concurrent_models=2), panel())
    async with runner.panel.turns, runner.panel.turns:
        assert runner.panel.turns.locked()  # type: ignore[attr-defined]


def test_the_first_answer_has_time_for_a_second_round() -> None:
    budget = Budget()
    seconds = budget.thought(0, age=budget.render)
    assert SandboxLimits().wall <= 20
    assert min(budget.thinking.first(seconds), budget.thinking.model) + 20 <= seconds


async def test_what_is_set_wrong_is_said_in_plain_words(tmp_path: Path) -> None:
    settings = TaskSettings(task_basedir=tmp_path, browser_executable=str(tmp_path / "none"))
    runner = TaskRunner(settings, panel())
    try:
        result = await runner.work(TaskRequest("a@b.c", "hush-hush", "https://8.8.8.8/quiz"))
    finally:
        await runner.close()
    assert result.state == "failed"
    assert (result.error or "").startswith("BROWSER_EXECUTABLE: ")
