"""What a key costs: what did not change is neither laid out, drawn nor computed again."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input

from quizlog_tui.files.paths import decisions_path
from quizlog_tui.session.session import Session
from quizlog_tui.solver.decision import Decision, ModelQuestion
from quizlog_tui.solver.decision_text import append_decision
from quizlog_tui.tui.draw.timeline import DECISION
from quizlog_tui.tui.player.known_steps import KnownSteps
from quizlog_tui.tui.toasts import tell
from quizlog_tui.tui.widgets.footer import KeyLine, MessageLine
from quizlog_tui.tui.widgets.line_view import LineView
from quizlog_tui.tui.widgets.text_fields import LineField
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


async def test_a_typed_character_lays_nothing_out(build: Build) -> None:
    async with playing(build.record(QUIZ), size=WIDE) as pilot:
        screen = await press(pilot, "a")
        laid_out = list[object]()
        screen.screen_layout_refresh_signal.subscribe(screen, laid_out.append, immediate=True)
        await press(pilot, "b", "c", "backspace")
        assert screen.panes.prompt.draft == "ab"
        assert laid_out == []


class TwoLines(App[None]):
    """Our line, and Textual's."""

    CSS = "Input { width: 12; height: 1; border: none; padding: 0 1; }"

    def compose(self) -> ComposeResult:
        for kind in (Input, LineField):
            yield kind(placeholder="as long as a line may be", select_on_focus=False)


EDITS: list[Callable[[Input], object]] = [
    lambda line: line.insert_text_at_cursor("é日 word"),
    lambda line: line.insert_text_at_cursor("x"),
    Input.action_delete_left,
    Input.action_delete_left_word,
    Input.action_delete_right,
    Input.action_home,
    Input.action_cursor_left,
    Input.action_cursor_left_word,
    Input.action_end,
    lambda line: line.replace("", len(line.value) // 2, len(line.value)),
]


async def test_a_line_scrolls_as_textual_s_own() -> None:
    random, app = Random(7), TwoLines()
    async with app.run_test(size=(40, 10)) as pilot:
        for edit in random.choices(EDITS, k=60):
            lines = list(app.query(Input))
            for line in lines:
                edit(line)
            await pilot.pause()
            theirs, ours = ((line.scroll_x, line.render_line(0).text) for line in lines)
            assert ours == theirs


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
