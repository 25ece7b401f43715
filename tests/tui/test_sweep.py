"""Trying many answers at one step on the screen: progress, cancel, order, and keeping some.

The table is tested as it is drawn: order, words for what came of each, columns that fit.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import TextArea

from quizlog_tui.cli import main
from quizlog_tui.errors import LimitError
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from quizlog_tui.replay.script.source import Source
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.dialogs import AskScreen, ChooseScreen
from quizlog_tui.tui.screens.sweep import (
    SweepAttempt,
    SweepScreen,
    attempt_document,
    best_first,
    count_text,
    summary,
    sweep_grid,
)
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.player_quizzes import EVIL, QUIZ
from tests.support.screens import SIZE, check, idle, opened, press, settled, shows, sized

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


async def test_golden_deep_sweep(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "h", "h")
        await sweeping(pilot, "28", "27", "bad")
        check("sweep-deep", SIZE, screen_text(app))


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


def drawn_trial(
    answer: str, status: str, score: float = 0.0, steps: int = 1, kept: str = ""
) -> SweepAttempt:
    made = AppendOnlyList([Step("q? ", ("hello\n",), "", 1, answer)] * steps)
    last = Step("next? " if status == "in_progress" else None, (), "", 1)
    error = LastError(f"not {answer}", 1, score) if status == "error" else None
    return SweepAttempt(answer, Transcript(made, last, status, error), kept)  # type: ignore[arg-type]


STOPPED = SweepAttempt("loop", LimitError("ran 30 seconds"))
ALL = [
    STOPPED,
    drawn_trial("low", "error", 0.1),
    drawn_trial("high", "error", 0.9),
    drawn_trial("far", "error", 0.1, steps=3),
    drawn_trial("on", "in_progress"),
    drawn_trial("done", "success"),
]


def test_the_best_come_first() -> None:
    names = [attempt.answer for attempt in best_first(ALL)]
    assert names == ["done", "on", "high", "far", "low", "loop"]


@given(st.permutations(ALL))
def test_the_order_of_trying_decides_only_between_equals(attempts: list[SweepAttempt]) -> None:
    assert best_first(attempts) == best_first(ALL)


def test_the_summary_counts_each_outcome() -> None:
    assert summary([]) == "nothing tried yet"
    assert summary(ALL) == "6 tried, 1 ✓ finished, 1 ● waiting, 3 ✗ error, 1 ! stopped"


def test_files_are_counted_apart() -> None:
    assert count_text([]) == "0 answers"
    assert count_text(["a", "@b", "@@c"]) == "2 answers and 1 file"


@given(st.integers(20, 130), st.booleans())
def test_rows_fit(width: int, kept: bool) -> None:
    grid = sweep_grid([*ALL, drawn_trial(EVIL, "error", kept="fork-1" if kept else "")])
    grid.starts(width)
    for index in range(len(grid)):
        assert cell_len(grid[index].text) <= width + 2  # the gap after the last column


def test_rows_say_what_came_of_it() -> None:
    grid = sweep_grid([*ALL, drawn_trial("", "success", kept="fork-1")])
    grid.starts(120)
    rows = [" ".join(grid[index].text.split()) for index in range(len(grid))]
    assert rows[0] == "loop ! stopped ran 30 seconds"
    assert rows[1] == "low ✗ error 0.1 1 not low"
    assert rows[4] == "on ● waiting 1 next?"
    assert rows[6] == "(empty) ✓ finished 1 1 fork-1"
    assert "fork-1" in grid.text(6)


def test_an_attempt_in_full(build: Build) -> None:
    source = Source(build.script("raise Exception('no')\n"), b"raise Exception('no')\n")
    document = attempt_document(drawn_trial(EVIL, "error", 0.5), source)
    text = "\n".join(document[index].text for index in range(len(document)))
    assert "hello" in text and "score 0.5" in text
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2028\x85\x00")
    assert "ran 30 seconds" in attempt_document(STOPPED, source)[0].text
