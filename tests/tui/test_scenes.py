"""The screens that wait, choose and guide: golden text and a picture of each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.theme import BUILTIN_THEMES

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.sandbox.result import ExecResult
from quizlog_tui.solver import autopilot
from quizlog_tui.solver.decision import Decision
from quizlog_tui.solver.decision_text import read_decisions
from quizlog_tui.solver.solve import Progress
from quizlog_tui.solver.voting.decide import decide
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.dialogs import ChooseScreen, ThemesScreen
from quizlog_tui.tui.screenshot import screen_svg, screen_text
from tests.support.build import Build
from tests.support.examples import fresh_example
from tests.support.golden_pictures import compare
from tests.support.player_quizzes import QUIZ
from tests.support.screens import asking, check, idle, opened, press, settled, shows

KEPT = Path(__file__).parent.parent / "data" / "three-models.decisions.jsonl"


@dataclass(frozen=True)
class Stage:
    """Where scenes are set up."""

    build: Build
    monkeypatch: pytest.MonkeyPatch

    def in_folder(self, name: str) -> Build:
        """A folder whose name stands on the screen."""
        folder = self.build.folder / name
        folder.mkdir()
        return Build(folder, self.build.dedent)

    def quiz(self) -> Path:
        return self.in_folder("audit").record(QUIZ, "Ada", "28")

    def example(self) -> Path:
        """One with recorded replies; its code is run by nobody, and comes to what it must."""

        async def run_code(code: str, *places: Any, **options: Any) -> ExecResult:
            return ExecResult("ok", True, "", "", None, 0.1, "bwrap")

        self.monkeypatch.setattr("quizlog_tui.sandbox.run_code", run_code)
        return fresh_example("linear-algebra", self.build.folder)

    def waiting(self) -> Path:
        """One whose second model has replied, and whose third never does."""
        whole = read_decisions(KEPT).decisions[0]
        half = decide(replace(whole, models=whole.models[:2], reconciliation=()))

        async def ask(
            session: Any, panel: Any, tell: Callable[[Progress], None], agree: Any
        ) -> Decision:
            tell(Progress("replied", half.models[-1].name, half))
            await asyncio.Event().wait()
            return half

        self.monkeypatch.setattr(autopilot, "ask", ask)
        return self.example()

    def endless(self) -> Path:
        """A long record that takes for ever to replay."""
        self.monkeypatch.setattr("quizlog_tui.tui.app._LONG", 0)
        build = self.in_folder("audit")
        script = build.script("while True: pass\n")
        printed = AppendOnlyList(f"line {number} of the record" for number in range(60))
        path = build.folder / "record.yaml"
        RecordFile(path).create(Record(script.name, 1, AppendOnlyList(["a"]), 1, print=printed))
        return path


Go = Callable[[Pilot[None]], Awaitable[None]]


def key(name: str, words: str) -> Go:
    """Press a key in the player, and wait for words."""

    async def go(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await press(pilot, "escape")
        await pilot.press(name)
        await shows(pilot, words)
        await pilot.pause()

    return go


async def choosing_a_theme(pilot: Pilot[None]) -> None:
    """Among our own: those of Textual are others in each of its versions."""
    await settled(pilot)
    for name in BUILTIN_THEMES:
        pilot.app.unregister_theme(name)
    await press(pilot, "escape")
    await pilot.press("f2")
    await opened(pilot, ThemesScreen)


async def choosing_an_export(pilot: Pilot[None]) -> None:
    await settled(pilot)
    await press(pilot, "escape")
    await pilot.press("x")
    await opened(pilot, ChooseScreen)


async def naming_a_file(pilot: Pilot[None]) -> None:
    await choosing_an_export(pilot)
    await pilot.press("enter")
    await asking(pilot)


async def opening(pilot: Pilot[None]) -> None:
    await shows(pilot, "replaying; Escape stops it")
    await shows(pilot, "line 59 of the record")
    await pilot.pause()  # the scroll bar comes one frame after the text


async def guided(pilot: Pilot[None]) -> None:
    await settled(pilot)
    await shows(pilot, "☞ 2/")
    await idle(pilot)


SCENES: dict[str, tuple[Callable[[Stage], Path], Go]] = {
    "ask": (Stage.example, key("m", "a accepts")),
    "ask-waiting": (Stage.waiting, key("m", "replied beta; Escape stops")),
    "ask-nobody": (Stage.quiz, key("m", "not asked; q goes back")),
    "themes": (Stage.quiz, choosing_a_theme),
    "export": (Stage.quiz, choosing_an_export),
    "export-name": (Stage.quiz, naming_a_file),
    "opening": (Stage.endless, opening),
    "guide": (Stage.quiz, guided),
}
PICTURED = (100, 30)


@pytest.fixture
def stage(build: Build, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(build, monkeypatch)


@pytest.mark.parametrize("scene", SCENES)
async def test_golden_scenes(scene: str, stage: Stage) -> None:
    make, go = SCENES[scene]
    app = QuizlogApp(make(stage), clock=FrozenClock(), guided=scene == "guide")
    async with app.run_test(size=PICTURED) as pilot:
        await go(pilot)
        text, drawn = screen_text(app), screen_svg(app)
    check(scene, PICTURED, text)
    compare(f"scene-{scene}", drawn)
