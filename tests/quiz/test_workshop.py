"""What tasks share, and what each is given of it."""

from __future__ import annotations

from quizlog_tui.quiz.budget import Budget
from quizlog_tui.quiz.settings import TaskSettings
from quizlog_tui.quiz.workshop import Workshop
from quizlog_tui.sandbox.result import Limits
from tests.solver.panels import panel


async def test_tasks_share_the_turns_of_their_models() -> None:
    shop = Workshop(TaskSettings(max_concurrent_models=2), panel())
    async with shop.panel.turns, shop.panel.turns:
        assert shop.panel.turns.locked()  # type: ignore[attr-defined]


def test_the_first_answer_has_time_for_a_second_round() -> None:
    budget = Budget()
    seconds = budget.thought(0, age=budget.render)
    assert Limits().wall <= 20
    assert min(budget.thinking.first(seconds), budget.thinking.model) + 20 <= seconds
