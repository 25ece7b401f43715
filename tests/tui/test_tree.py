"""The tree: golden text at three sizes, and every key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from textual.pilot import Pilot

from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.tree import TreeScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.screens import ask, asking, check, idle, settled, shows, sized

QUIZ = """
name = input("Your name? ")
for i in range(3):
    if input(f"Is {i} less than 2? ") != ("yes" if i < 2 else "no"):
        raise Exception("wrong")  #score = 0.5
print("Done.")
"""


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    path = Build(folder, build.dedent).record(QUIZ, "Ada", "yes", "yes")
    with Session(path, clock=lambda: "1970-01-01T00:00:00+00:00") as session:
        session.answer("no")
        session.fork(1, "no", "early")
        session.note("early", "a slip of the finger")
        session.switch("main")
        session.fork(3, "maybe", "late")
        session.fork(0, "Bob", "bob")
        session.switch("main")
    return path


async def tree(pilot: Pilot[Any], *keys: str) -> TreeScreen:
    await pilot.press(*keys)
    await idle(pilot)
    while not isinstance(pilot.app.screen, TreeScreen):
        await idle(pilot)
    return pilot.app.screen


async def opened(pilot: Pilot[Any]) -> TreeScreen:
    player = await settled(pilot)
    if player.state.shown.status != "success":
        await pilot.press("escape")
    return await tree(pilot, "b")


async def asked(pilot: Pilot[Any], key: str, *answers: str) -> TreeScreen:
    await ask(pilot, key, *answers)
    return await tree(pilot)


def names(screen: TreeScreen) -> list[str]:
    return [row.branch.name for row in screen._tree]


def marked(screen: TreeScreen) -> str | None:
    return screen.row.branch.name if screen.row else None


@sized()
async def test_golden_screens(size: tuple[int, int], record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await tree(pilot, "j", "j")
        check("tree", size, screen_text(app))


async def test_enter_switches_and_goes_back_to_the_player(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        assert names(screen) == ["main", "bob", "early", "late"]
        assert marked(screen) == "main"
        await pilot.press("j", "enter")
        player = await settled(pilot)
        assert player.session.record.branch == "bob" and player.state.shown.inputs[0] == "Bob"
    assert yaml.safe_load(record.read_text())["branch"] == "bob"


async def test_looking_changes_nothing(record: Path) -> None:
    before = record.read_bytes()
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        await tree(pilot, "j", "G", "k", "g", "tab", "tab")
        assert marked(screen) == "main"
        await pilot.press("enter")
        await settled(pilot)
    assert record.read_bytes() == before


async def test_switch_rename_note_and_undo_stay_in_the_tree(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await opened(pilot)
        await tree(pilot, "j", "space")
        assert screen.session.record.branch == "bob"
        await asked(pilot, "r", "robert")
        assert marked(screen) == "robert" == screen.session.record.branch
        await asked(pilot, "a", "[/nope] mine")
        await shows(pilot, "✎ [/nope] mine")
        await tree(pilot, "z", "z")
        assert (marked(screen), screen.session.record.branch) == ("bob", "bob")
        await shows(pilot, "undone: renaming of bob")
        await tree(pilot, "z")
        assert screen.session.record.branch == "main"
        await tree(pilot, "Z", "Z")
        assert "robert" in names(screen)
        await asked(pilot, "r", "late")
        await shows(pilot, "there is a branch 'late' already")
        await pilot.press("q")
        player = await settled(pilot)
        assert player.session.record.branch == "robert" and player.state.shown.inputs[0] == "Bob"


async def test_delete_hides_and_undo_or_restore_brings_back(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await opened(pilot)
        await tree(pilot, "d")
        await shows(pilot, "'main' is the active branch")
        await tree(pilot, "j", "d")
        await shows(pilot, "bob is hidden, its answers stay")
        assert names(screen) == ["main", "early", "late"]
        await tree(pilot, "z")
        assert names(screen) == ["main", "bob", "early", "late"] and marked(screen) == "bob"
        await tree(pilot, "d", "U")
        await shows(pilot, "no deleted branch is selected")
        await tree(pilot, "D")
        assert marked(screen) == "bob"
        await shows(pilot, "␡ deleted")
        await tree(pilot, "U", "D")
        assert names(screen) == ["main", "bob", "early", "late"]
        await tree(pilot, "D")
        await shows(pilot, "no branch is deleted")
    assert "deleted" not in record.read_text()


async def test_a_fork_leaves_the_marked_branch(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await opened(pilot)
        await tree(pilot, "j")
        await asked(pilot, "f", "9")
        await shows(pilot, "bob has 1 answer")
        await asked(pilot, "f", "1", "no")
        assert marked(screen) == "fork-1" == screen.session.record.branch
        assert list(screen.session.record.inputs) == ["Bob", "no"]
        await tree(pilot, "g")
        await asked(pilot, "f", "4", "more")
        await shows(pilot, "the script asks nothing at step 4")
        assert screen.session.record.branch == "fork-1"
        await pilot.press("f")
        await asking(pilot)
        await tree(pilot, "escape")
    data = yaml.safe_load(record.read_text())
    assert data["branches"]["fork-1"]["parent"] == "bob"


async def test_what_others_wrote_is_followed(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await opened(pilot)
        with Session(record) as other:
            other.rename("late", "other")
        await shows(pilot, "another program changed the record")
        while "other" not in names(screen):
            await pilot.pause()
        await tree(pilot, "R")
        assert names(screen) == ["main", "bob", "early", "other"]


async def test_a_slow_switch_is_stopped_by_escape(build: Build) -> None:
    path = build.record("if input('go? ') == 'y':\n    while True: pass\n")
    data = yaml.safe_load(path.read_text())
    data["branches"] = {"slow": {"parent": "main", "at": 0, "inputs": ["y"]}}
    path.write_text(yaml.safe_dump(data))
    app = QuizlogApp(path)
    async with app.run_test(notifications=True) as pilot:
        screen = await opened(pilot)
        await pilot.press("j", "space")
        await shows(pilot, "Escape stops it")
        await tree(pilot, "escape")
        assert isinstance(app.screen, TreeScreen) and screen.session.record.branch == "main"


EVIL = "[/nope] [@click=app.quit]go[/] \x1b]0;owned\x07 \x9b31m \u202e \u2028 \x85"


async def test_no_name_note_or_answer_is_markup_or_a_control_sequence(build: Build) -> None:
    path = build.record("input('a? ')\ninput('b? ')\n", EVIL)
    data = yaml.safe_load(path.read_text())
    branch = {"parent": "main", "at": 0, "inputs": [EVIL, EVIL], "note": EVIL, "created": EVIL}
    data["branches"] = {EVIL: branch}
    path.write_text(yaml.safe_dump(data))
    app = QuizlogApp(path)
    async with app.run_test(size=(180, 40), notifications=True) as pilot:
        await opened(pilot)
        await tree(pilot, "j")
        text = screen_text(app)
        for key in ("r", "a", "f"):
            await pilot.press(key)
            await asking(pilot)
            text += screen_text(app)
            await tree(pilot, "escape")
        await ask(pilot, "f", "0")
        await asking(pilot)
        text += screen_text(app)
        await tree(pilot, "escape")
        await tree(pilot, "d")
        text += screen_text(app)
    assert text.count("[/nope] [@click=app.quit]go[/]") > 6
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2028\x85")
