"""Trying many answers at one step on the screen: progress, cancel, order, and keeping some."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from textual.pilot import Pilot
from textual.widgets import TextArea

from quizlog_tui.cli import main
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.dialogs import AskScreen, ChooseScreen
from quizlog_tui.tui.screens.sweep import SweepScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.player_quizzes import QUIZ
from tests.support.screens import check, idle, opened, press, settled, shows, sized

DEEP = """
total = sum(int(input(f"number {i}? ")) for i in range(3))
if total > 10:
    raise Exception("too much")  #score = 0.5
print("fine")
"""


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ, "Ada", "28", "16")


async def sweeping(pilot: Pilot[None], *answers: str) -> SweepScreen:
    """Open the screen at the last step and try some answers."""
    await settled(pilot)
    await press(pilot, "escape")
    await pilot.press("s")
    screen = await opened(pilot, SweepScreen)
    if answers:
        screen.query_one(TextArea).text = "\n".join(answers)
        await pilot.press("f5")
        await tried(pilot, screen)
    return screen


async def tried(pilot: Pilot[None], screen: SweepScreen) -> None:
    while screen.slow_work.running or screen.focused is None or screen.focused.id != "attempts":
        await idle(pilot)
    await idle(pilot)  # the footer follows the focus


@sized()
async def test_golden_sweep(size: tuple[int, int], record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=size) as pilot:
        await sweeping(pilot, "8", "9", "", "many words that make a long answer")
        check("sweep", size, screen_text(app))
        await pilot.press("s", "enter")
        await idle(pilot)
        check("sweep-output", size, screen_text(app))


@sized((200, 60))
async def test_golden_deep_sweep(size: tuple[int, int], record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "h", "h")
        await sweeping(pilot, "28", "27", "bad")
        check("sweep-deep", size, screen_text(app))


async def test_later_answers_are_kept_in_a_sweep_and_on_the_branch_kept(build: Build) -> None:
    path = build.record(DEEP, "1", "2", "3")
    app = QuizlogApp(path)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "0")
        screen = await sweeping(pilot, "2", "9")
        await shows(pilot, "keeps 2 later answers")
        assert [one.differs for one in screen._shown] == [None, 3]
        await pilot.press("j", "f")
        await opened(pilot, AskScreen)
        await pilot.press("enter")
        await shows(pilot, "kept as branch fork-1")
    [branch] = yaml.safe_load(path.read_text())["branches"].values()
    assert (branch["at"], branch["inputs"], branch["score"]) == (0, ["9", "2", "3"], 0.5)


async def test_results_stay_with_the_later_answers_they_ran_with(build: Build) -> None:
    path = build.record(DEEP, "1", "2", "3")
    app = QuizlogApp(path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "0")
        await sweeping(pilot, "2", "9")
        await pilot.press("escape")
        player = await settled(pilot)
        await press(pilot, "l", "A", "end", "0", "enter")
        assert list(player.session.record.inputs) == ["1", "20", "3"]
        await press(pilot, "escape", "0")
        other = await sweeping(pilot)
        assert other._shown == [] and other.query_one(TextArea).text == "2\n9\n"
        await pilot.press("escape")
        await press(pilot, "z", "0")
        again = await sweeping(pilot)
        assert [one.answer for one in again._shown] == ["2", "9"]


async def test_what_was_tried_is_saved_as_in_a_shell(
    build: Build, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.record(DEEP, "1", "2", "3")
    monkeypatch.chdir(build.folder)
    app = QuizlogApp(path)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "0")
        await sweeping(pilot, "2", "9")
        await pilot.press("x")
        await opened(pilot, ChooseScreen)
        await shows(pilot, "what was tried, as JSON")
        await pilot.press("G", "enter")
        await opened(pilot, AskScreen)
        await pilot.press("enter")
        await shows(pilot, "written to")
    saved = json.loads((build.folder / "sweep.json").read_text())
    assert main(["sweep", str(path), "0", "2", "9", "--deep", "--json"]) == 0
    assert saved == json.loads(capsys.readouterr().out)


async def test_several_are_kept_and_the_record_stays_where_it_is(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await sweeping(pilot, "8", "9")
        for name in ("", "best"):
            await pilot.press("f")
            field = (await opened(pilot, AskScreen)).query_one("Input")
            if name:
                field.value = name  # type: ignore[attr-defined]
            await pilot.press("enter")
            await shows(pilot, f"kept as branch {name or 'fork-1'}; main")
            await pilot.press("j")
        await pilot.press("f")
        await opened(pilot, AskScreen)
        await pilot.press("escape")
        screen = await opened(pilot, SweepScreen)
        assert [one.kept for one in screen._shown] == ["fork-1", "best"]
        await pilot.press("q")
        player = await settled(pilot)
        assert player.session.record.branch == "main"
        assert player.known.marks(player.state.whole)[3] == "┬"
    data = yaml.safe_load(record.read_text())
    assert (data["inputs"], data["pointer"]) == (["Ada", "28", "16"], 3)
    kept = {name: (b["parent"], b["inputs"], b["status"]) for name, b in data["branches"].items()}
    assert kept == {"fork-1": ("main", ["8"], "error"), "best": ("main", ["9"], "success")}


async def test_a_taken_name_is_told(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await sweeping(pilot, "8")
        await pilot.press("f")
        field = (await opened(pilot, AskScreen)).query_one("Input")
        field.value = "main"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await shows(pilot, "there is a branch 'main' already")
    assert "branches" not in yaml.safe_load(record.read_text())


async def test_answers_from_a_file_join_those_typed(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.txt").write_text("7\n9\n8\n", encoding="utf-8")
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await sweeping(pilot, "8")
        await pilot.press("o")
        await opened(pilot, AskScreen)
        await pilot.press(*"more.txt", "enter")
        await opened(pilot, SweepScreen)
        await shows(pilot, "1 answer and 1 file; F5 tries")
        assert screen.query_one(TextArea).text == "8\n@more.txt\n"
        await pilot.press("f5")
        await tried(pilot, screen)
        assert [one.answer for one in screen._shown] == ["8", "7", "9"]
        await pilot.press("s")
        await shows(pilot, "best first")
        assert [one.answer for one in screen._shown] == ["9", "8", "7"]
        await pilot.press("i")
        screen.query_one(TextArea).text = "@gone.txt"
        await pilot.press("ctrl+s")
        await shows(pilot, "gone.txt: cannot read")
        screen.query_one(TextArea).text = ""
        await pilot.press("f5")
        await shows(pilot, "there is nothing to try")


async def test_the_output_follows_the_mark_and_escape_backs_out(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await sweeping(pilot, "8", "9")
        await pilot.press("enter")
        await shows(pilot, "3 * 3 is not 8 │")
        await pilot.press("shift+tab", "j")
        await shows(pilot, "What is 3 * 3? 9")
        await pilot.press("escape", "i", "escape", "escape")
        await settled(pilot)
        assert not screen.has_class("-looking")


async def test_what_was_tried_at_a_step_is_there_when_one_comes_back(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30)) as pilot:
        await sweeping(pilot, "8", "9")
        await pilot.press("escape")
        await press(pilot, "h")
        other = await sweeping(pilot)
        assert other._shown == [] and other.query_one(TextArea).text == ""
        await pilot.press("escape")
        await press(pilot, "l")
        again = await sweeping(pilot)
        assert [one.answer for one in again._shown] == ["8", "9"]
        assert again.query_one(TextArea).text == "8\n9" and again.focused is not None
        assert again.focused.id == "attempts"
        await shows(pilot, "2 tried, 1 ✓ finished, 1 ✗ error")


async def test_a_long_sweep_is_stopped_and_what_was_tried_stays(build: Build) -> None:
    path = build.record("if input('go? ') == 'loop':\n    while True: pass\n")
    app = QuizlogApp(path)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        screen = await sweeping(pilot)
        screen.query_one(TextArea).text = "\n".join([*map(str, range(16)), "loop"])
        await pilot.press("f5")
        await shows(pilot, "; Escape stops it")
        while len(screen._tried) < 16:
            await pilot.pause()
        await pilot.press("escape")
        await shows(pilot, "stopped: 16 of 17 tried")
        await shows(pilot, "16 tried, 16 ✓ finished")
        await pilot.press("q")
        await settled(pilot)


async def test_leaving_stops_a_sweep(build: Build) -> None:
    path = build.record("if input('go? ') == 'loop':\n    while True: pass\n")
    app = QuizlogApp(path)
    async with app.run_test(notifications=True) as pilot:
        screen = await sweeping(pilot)
        screen.query_one(TextArea).text = "loop"
        await pilot.press("f5")
        await shows(pilot, "; Escape stops it")
        screen.action_leave()
        player = await settled(pilot)
        await press(pilot, "i", *"fine", "enter")
        assert player.state.shown.status == "success"


async def test_the_choices_of_a_question_are_offered(build: Build) -> None:
    path = build.record("input('Which? (red/green/\\x1b) ')\n")
    app = QuizlogApp(path)
    async with app.run_test() as pilot:
        screen = await sweeping(pilot)
        assert "\x1b" not in screen.query_one(TextArea).text


async def test_nothing_is_swept_where_nothing_is_asked(build: Build) -> None:
    path = build.record("raise Exception('no')\n")
    app = QuizlogApp(path)
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("s")
        await shows(pilot, "there is no question here")


async def test_what_is_typed_stands_below_the_options(build: Build) -> None:
    app = QuizlogApp(build.record('input("low, or high? (low/high) ")'))
    async with app.run_test() as pilot:
        screen = await sweeping(pilot)
        box = screen.query_one(TextArea)
        assert box.text == "low\nhigh\n"
        await pilot.press(*"mid", "enter", *"up")
        assert box.text == "low\nhigh\nmid\nup"
        await pilot.press("f5")
        await tried(pilot, screen)
        await pilot.press("i", *"more")
        assert box.text == "low\nhigh\nmid\nup\nmore"
        await pilot.press("escape", "q")
        await settled(pilot)
        await pilot.press("s")
        screen = await opened(pilot, SweepScreen)
        await pilot.press("i", *"last")
        assert screen.query_one(TextArea).text == "low\nhigh\nmid\nup\nmore\nlast"
