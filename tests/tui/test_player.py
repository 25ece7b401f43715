"""The player: golden text at two sizes, keys, and what they do to the record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import product
from pathlib import Path

import pytest
import yaml
from textual.actions import parse
from textual.pilot import Pilot
from textual.widgets import Input

from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.keys.actions import ACTIONS
from quizlog_tui.tui.player import editing
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.line_view import LineView
from tests.support.build import Build
from tests.support.player_quizzes import EVIL, QUIZ
from tests.support.screens import SIZE, SIZES, check, playing, press, settled, shows


async def at_question(pilot: Pilot[None]) -> None:
    await settled(pilot)


async def at_error(pilot: Pilot[None]) -> None:
    await press(pilot, *"wrong", "enter")


async def in_the_past(pilot: Pilot[None]) -> None:
    await press(pilot, "escape", "h", "h")


async def at_the_end(pilot: Pilot[None]) -> None:
    await press(pilot, *"9", "enter")


async def in_help(pilot: Pilot[None]) -> None:
    await press(pilot, "escape")
    await pilot.press("question_mark")
    await pilot.pause()


SCENES: dict[str, Callable[[Pilot[None]], Awaitable[None]]] = {
    "question": at_question,
    "error": at_error,
    "past": in_the_past,
    "end": at_the_end,
    "help": in_help,
}


BOTH_LAYOUTS = list(product(["question", "error"], SIZES))


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ, "Ada", "28", "16")


@pytest.mark.parametrize(
    ("scene", "size"), [*BOTH_LAYOUTS, *product(["past", "end", "help"], [SIZE])]
)
async def test_golden_screens(scene: str, size: tuple[int, int], record: Path) -> None:
    async with playing(record, clock=FrozenClock(), size=size) as pilot:
        await SCENES[scene](pilot)
        check(scene, size, screen_text(pilot.app))


async def test_one_can_type_at_once_and_the_answer_is_saved(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await settled(pilot)
        assert isinstance(pilot.app.focused, Input)
        await press(pilot, *"9", "enter")
        assert screen.state.shown.status == "success"
    assert yaml.safe_load(record.read_text())["inputs"] == ["Ada", "28", "16", "9"]


async def test_stepping_only_looks(record: Path) -> None:
    before = record.read_bytes()
    async with playing(record) as pilot:
        screen = await press(pilot, "escape", "h", "left", "l", "0", "right", "dollar_sign", "h")
        assert len(screen.state.shown.steps) == 2
    assert record.read_bytes() == before


async def test_the_header_tells_how_the_record_stands_wherever_one_looks(record: Path) -> None:
    async with playing(record, size=(100, 30)) as pilot:
        await press(pilot, "9", "enter")
        await press(pilot, "h")
        await shows(pilot, "✓ finished, score 1 · step 3 of 4 (pointer at 4)")
        await press(pilot, "h", "r")
        await shows(pilot, "● waiting · step 2 of 4 · branch")
        await press(pilot, "escape", "l")
        await shows(pilot, "● waiting · step 3 of 4 (pointer at 2)")


async def test_questions_are_numbered_by_their_steps_everywhere(record: Path) -> None:
    async with playing(record, size=(100, 30)) as pilot:
        for keys, words in (
            (("escape", "h"), "Question at step 2"),
            (("f",), "Fork at step 2"),
            (("escape", "A"), "Amend at step 2"),
            (("escape", "dollar_sign", "i", "x", "enter"), "Try again at step 3"),
            (("escape",), "step 4 of 4"),
        ):
            await press(pilot, *keys)
            await shows(pilot, words)
        await pilot.press("question_mark")
        await shows(pilot, "Step K is the question asked after K answers")


async def test_rewind_sets_the_pointer_and_answering_forks(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape", "h", "h", "r")
        assert yaml.safe_load(record.read_text())["pointer"] == 1
        await press(pilot, "i", *"1", "enter")
    data = yaml.safe_load(record.read_text())
    assert data["inputs"] == ["Ada", "1"] and data["status"] == "error"
    assert data["branches"]["main-1"]["inputs"] == ["28", "16"]


async def test_fork_and_switch_back(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape", "0", "f")
        await press(pilot, "ctrl+u", *"Bob", "enter")
        assert yaml.safe_load(record.read_text())["branch"] == "fork-1"
        await pilot.press("escape", "b")
        screen = await press(pilot, "k", "enter")
        assert screen.session.record.branch == "main"
    assert yaml.safe_load(record.read_text())["inputs"] == ["Ada", "28", "16"]


async def test_escape_gives_up_a_fork(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape", "h", "f", "escape")
        await press(pilot, "i", *"16", "enter")
    assert "branches" not in yaml.safe_load(record.read_text())


async def test_an_outside_change_is_told_and_reload_mends_it(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editing, "_FOLLOW_SECONDS", 1000)  # the answer comes before it looks
    async with playing(record, notifications=True) as pilot:
        record.write_text(record.read_text().replace('"Ada"', '"Eve"'))
        await press(pilot, *"9", "enter")
        await shows(pilot, "somebody")
        screen = await press(pilot, "escape", "R")
        assert screen.state.shown.inputs[0] == "Eve"


async def test_a_slow_script_can_be_stopped(build: Build) -> None:
    path = build.record("if input('go? ') == 'y':\n    while True: pass\n")
    async with playing(path, notifications=True) as pilot:
        await pilot.press("y", "enter")
        await shows(pilot, "running; Escape stops it")
        screen = await press(pilot, "escape")
        await shows(pilot, "stopped before")
        assert screen.session.pointer == 0
    assert yaml.safe_load(path.read_text())["inputs"] == []


async def test_resizing_while_running_is_survived(record: Path) -> None:
    async with playing(record, size=(100, 30)) as pilot:
        for state in ("question", "error"):
            for size in ((60, 20), (120, 40), (20, 8), (1, 1), (80, 24)):
                await pilot.resize_terminal(*size)
                await settled(pilot)
            if state == "question":
                await press(pilot, *"wrong", "enter")
        assert "3 * 3 is not wrong" in screen_text(pilot.app)


async def test_q_quits_without_a_question(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("escape", "q")
        await pilot.pause()
    assert app.return_code == 0


async def test_a_record_that_cannot_be_opened_is_an_exit_code(tmp_path: Path) -> None:
    app = QuizlogApp(tmp_path / "gone.yaml")
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
    assert app.return_code == 2


async def test_the_library_lists_the_examples_and_opens_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = QuizlogApp()
    async with app.run_test() as pilot:
        await shows(pilot, "arithmetic/record.yaml")
        await pilot.press("j", "enter")
        screen = await settled(pilot)
        assert screen.session.source.path.name == "quiz.py"


async def test_no_text_of_a_script_is_markup_or_a_control_sequence(build: Build) -> None:
    source = f"print({EVIL!r})\ninput({EVIL!r})\nraise Exception({EVIL!r})  #score = 0.5\n"
    path = build.record(source)
    app = QuizlogApp(path)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        text = screen_text(app)
        assert "[/nope] [@click=app.quit]go[/] [$x]y[/]" in text
        screen = await press(pilot, "x", "enter")
        assert screen.state.shown.status == "error"
        text += screen_text(app)
        screen.notify(EVIL, markup=False)
        await pilot.pause()
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2028\x85\x00")


async def test_a_script_that_asks_for_the_real_thing_gets_it_only_by_a_persons_word(
    build: Build,
) -> None:
    path = build.record("import time  #quizlog: real-clock\ninput(f'{time.time():.0f} ')\n")
    app = QuizlogApp(path)
    async with app.run_test() as pilot:
        await shows(pilot, "asks for real-clock")
        await pilot.press("enter")  # the first choice: run it without
        screen = await settled(pilot)
        assert float(screen.state.shown.next_prompt or 0) < 1_736_000_000
    app = QuizlogApp(path)
    async with app.run_test() as pilot:
        await shows(pilot, "asks for real-clock")
        await pilot.press("down", "enter")
        screen = await settled(pilot)
        assert float(screen.state.shown.next_prompt or 0) > 1_760_000_000
    async with QuizlogApp(path).run_test() as pilot:
        screen = await settled(pilot)
        assert float(screen.state.shown.next_prompt or 0) > 1_760_000_000


async def test_answers_from_elsewhere_are_shown_where_a_grant_is_offered(build: Build) -> None:
    asks = "import time  #quizlog: real-clock\nwhile True: input(f'{time.time():.0f} ')\n"
    path = build.record(asks, "theirs", "\x1b[2J")
    async with QuizlogApp(path).run_test() as pilot:
        for line in ("The record is from elsewhere:", "answer 0: theirs", "answer 1: ␛[2J"):
            await shows(pilot, line)
        await pilot.press("down", "enter")
        screen = await settled(pilot)
        assert float(screen.state.shown.next_prompt or 0) > 1_760_000_000
    (build.folder / "time.py").touch()
    async with QuizlogApp(path).run_test() as pilot:
        await shows(pilot, "time.py is new since you allowed it")
        assert "from elsewhere" not in screen_text(pilot.app)


async def test_the_player_has_every_action_of_its_table(build: Build) -> None:
    async with playing(build.record(QUIZ)) as pilot:
        screen = await settled(pilot)
        for action in ACTIONS["player"]:
            _, name, _ = parse(action.call)
            assert callable(getattr(screen, f"action_{name}")), action.id


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_long_error_stands_once_and_can_be_read_to_its_end(
    size: tuple[int, int], build: Build
) -> None:
    words = " ".join(f"word{number}" for number in range(120))
    app = QuizlogApp(
        build.record(f'input("go? ")\nraise Exception("{words}")  #score = 0.5\n', "x")
    )
    async with app.run_test(size=size) as pilot:
        screen = await settled(pilot)
        pane = screen.query_one("#error", LineView)
        assert "word0 word1" in screen_text(app) and "line 2" in screen_text(app)
        text = "\n".join(pane.document.text(at) for at in range(len(pane.document)))
        assert text.count("word7 ") - text.count('Exception("') == 1
        await press(pilot, "escape", "tab")
        assert app.focused is pane
        for last in ("word119", 'raise Exception("word0'):
            for _ in range(40):
                if last in screen_text(app):
                    break
                await press(pilot, "j")
            assert last in screen_text(app)
