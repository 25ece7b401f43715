"""What tasks share, and what each is given of it."""

from __future__ import annotations

from quizlog_tui.quiz.settings import TaskSettings
from quizlog_tui.quiz.workshop import Workshop
from tests.solver.panels import panel


async def test_tasks_share_the_turns_of_their_models() -> None:
    shop = Workshop(TaskSettings(max_concurrent_models=2), panel())
    async with shop.panel.turns, shop.panel.turns:
        assert shop.panel.turns.locked()  # type: ignore[attr-defined]
