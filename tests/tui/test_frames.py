"""What a key costs: what did not change is neither laid out, drawn nor computed again."""

from __future__ import annotations

import pytest

from quizlog_tui.files.paths import decisions_path
from quizlog_tui.session.session import Session
from quizlog_tui.solver.decision import Decision, ModelQuestion
from quizlog_tui.solver.decision_text import append_decision
from quizlog_tui.tui.draw.timeline import DECISION
from quizlog_tui.tui.player.known_steps import KnownSteps
from quizlog_tui.tui.toasts import tell
from quizlog_tui.tui.widgets.footer import KeyLine, MessageLine
from quizlog_tui.tui.widgets.line_view import LineView
from tests.support.build import Build
from tests.support.screens import idle, playing, press, shows

QUIZ = """
for at in range(99):
    print(f"step {at}")
    input(f"answer {at}? ")
"""
ANSWERS = [str(at) for at in range(30)]
WIDE = (120, 40)


@pytest.mark.parametrize("key", ["h", "l"])
async def test_a_step_to_a_question_alike_lays_nothing_out(key: str, build: Build) -> None:
    async with playing(build.record(QUIZ, *ANSWERS), size=WIDE, notifications=True) as pilot:
        screen = await press(pilot, "escape", "h", "h", "h")
        laid_out = list[object]()
        screen.screen_layout_refresh_signal.subscribe(screen, laid_out.append, immediate=True)
        before = screen.state.step
        await press(pilot, key)
        assert abs(screen.state.step - before) == 1
        assert laid_out == []


async def test_a_step_draws_two_rows_of_the_timeline_and_no_keys(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = list[tuple[str | None, int]]()
    render, render_keys = LineView.render_line, KeyLine.render
    async with playing(build.record(QUIZ, *ANSWERS), size=WIDE) as pilot:
        await press(pilot, "escape", "h", "h")
        monkeypatch.setattr(
            LineView,
            "render_line",
            lambda self, y: (drawn.append((self.id, y)), render(self, y))[1],
        )
        monkeypatch.setattr(
            KeyLine, "render", lambda self: (drawn.append(("keys", 0)), render_keys(self))[1]
        )
        await press(pilot, "h")
        timeline = {y for name, y in drawn if name == "timeline"}
        assert len(timeline) == 2
        assert {name for name, _ in drawn} == {"timeline", "output"}


async def test_a_key_takes_a_message_away_and_shows_the_keys_again(build: Build) -> None:
    async with playing(build.record(QUIZ, *ANSWERS), notifications=True) as pilot:
        screen = await press(pilot, "escape")
        messages, keys = screen.query_one(MessageLine), screen.query_one(KeyLine)
        for step in (29, 28):
            tell(screen, f"said at {step}")
            await shows(pilot, f"said at {step}")
            assert messages.display and not keys.display
            await press(pilot, "h")
            await idle(pilot)
            assert (screen.state.step, messages.display, keys.display) == (step, False, True)


def test_the_marks_are_computed_once_until_something_changes(build: Build) -> None:
    path = build.record(QUIZ, "a", "b")
    with Session(path) as session:
        known = KnownSteps(session)
        whole = session.transcript_of()
        before = known.marks(whole)
        assert before == {} and known.marks(whole) is before
        append_decision(decisions_path(path), Decision("d", "now", ModelQuestion("?", pointer=1)))
        assert known.marks(whole) == {1: DECISION}
