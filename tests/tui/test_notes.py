"""Notes: writing them at a step, listing and filtering them, going where they were made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from textual.pilot import Pilot

from quizlog_tui.config import Config
from quizlog_tui.errors import RecordError
from quizlog_tui.record.feedback import Feedback
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.notes import (
    NotesScreen,
    RemarkScreen,
    authors_in,
    filtered_notes,
    no_notes_lines,
    note_grid,
    note_lines,
    verdict_line,
    verdicts_in,
)
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.screens import SIZE, asking, check, idle, press, settled, shows

QUIZ = "for n in 'abc':\n    input(f'{n}? ')\n"


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ, "1", "2")


@pytest.fixture
def noted(record: Path) -> Path:
    with Session(record, clock=lambda: "1970-01-01T00:00:00+00:00") as session:
        session.comment(0, "well done", "right", "ann")
        session.comment(1, "off by one,\nlook at line 2", "wrong", "bob")
        session.fork(1, "3", "other")
        session.comment(1, "", "unsure", "ann")
        session.comment(2, "what now?", None, None)
        session.switch("main")
    return record


async def notes(pilot: Pilot[Any], *keys: str) -> NotesScreen:
    await pilot.press(*keys)
    await idle(pilot)
    while not isinstance(pilot.app.screen, NotesScreen):
        await idle(pilot)
    return pilot.app.screen


async def opened(pilot: Pilot[Any]) -> NotesScreen:
    await settled(pilot)
    await pilot.press("escape")
    return await notes(pilot, "F")


async def remark(pilot: Pilot[Any], *keys: str) -> None:
    """Open the window for a remark and press keys in it."""
    await pilot.press("a")
    while not isinstance(pilot.app.screen, RemarkScreen):
        await pilot.pause()
    await pilot.press(*keys)
    await pilot.pause()


@pytest.mark.parametrize("scene", ["notes", "remark"])
async def test_golden_screens(scene: str, noted: Path) -> None:
    app = QuizlogApp(noted, clock=FrozenClock())
    async with app.run_test(size=SIZE) as pilot:
        if scene == "notes":
            await opened(pilot)
            await notes(pilot, "k", "k")
        else:
            await settled(pilot)
            await pilot.press("escape", "h")
            await remark(pilot, *"no good", "tab", "j", "j")
        check(scene, SIZE, screen_text(app))


async def test_a_remark_is_written_at_the_step_shown_with_verdict_and_author(record: Path) -> None:
    app = QuizlogApp(record, Config(author="eve"))
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "h")
        await remark(pilot, *"[/x] ok", "enter", *"two", "tab", "j", "j", "enter")
        await shows(pilot, "noted at step 1")
        await settled(pilot)
        await remark(pilot, *"plain", "f5")
        await settled(pilot)
        await remark(pilot, "f5")
        await shows(pilot, "write something")
        await pilot.press("escape")
        await settled(pilot)
    found = yaml.safe_load(record.read_text())["feedback"]
    said = [(each["at"], each["author"], each.get("verdict"), each["text"]) for each in found]
    assert said == [(1, "eve", "wrong", "[/x] ok\ntwo"), (1, "eve", None, "plain")]
    assert found[0]["branch"] == "main" and found[0]["time"]


async def test_who_writes_the_first_remark_is_asked_for_a_name_once(record: Path) -> None:
    async with QuizlogApp(record).run_test() as pilot:
        await settled(pilot)
        await press(pilot, "escape", "h")
        await remark(pilot, *"one", "f5")
        dialog = await asking(pilot)
        await pilot.press(*"eve", "enter")
        while pilot.app.screen is dialog:
            await pilot.pause()
        await settled(pilot)
        await remark(pilot, *"two", "f5")
        await settled(pilot)
    found = yaml.safe_load(record.read_text())["feedback"]
    assert [(each["author"], each["text"]) for each in found] == [("eve", "one"), ("eve", "two")]


async def test_escape_at_the_name_writes_no_remark_and_keeps_it_as_a_draft(record: Path) -> None:
    async with QuizlogApp(record).run_test(notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "h")
        before = record.read_bytes()
        await remark(pilot, *"one", "f5")
        await asking(pilot)
        await press(pilot, "escape")
        await shows(pilot, "saved as a draft")
        assert record.read_bytes() == before
        await remark(pilot, "f5")
        await asking(pilot)
        await press(pilot, *"eve", "enter")
    found = yaml.safe_load(record.read_text())["feedback"]
    assert [(each["author"], each["text"]) for each in found] == [("eve", "one")]


async def test_escape_keeps_what_is_typed_as_a_draft_of_its_step(record: Path) -> None:
    app = QuizlogApp(record, Config(author="eve"))
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "h")
        await remark(pilot, *"half a thought", "tab", "j", "j", "escape")
        await shows(pilot, "saved as a draft")
        await settled(pilot)
        await press(pilot, "h")
        await remark(pilot)
        assert "half a thought" not in screen_text(app)
        await pilot.press("escape")
        await settled(pilot)
        await press(pilot, "l")
        await remark(pilot, "end", *", whole", "f5")
        await shows(pilot, "noted at step 1")
        await settled(pilot)
        await remark(pilot)
        assert "half" not in screen_text(app)
    (found,) = yaml.safe_load(record.read_text())["feedback"]
    assert (found["at"], found["verdict"], found["text"]) == (1, "wrong", "half a thought, whole")


async def test_a_remark_that_cannot_be_written_stays_a_draft(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise RecordError("cannot write: No space left on device", where="record.yaml")

    app = QuizlogApp(record, Config(author="eve"))
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "escape")
        with monkeypatch.context() as patch:
            patch.setattr(RecordFile, "write", full)
            await remark(pilot, *"a thought", "f5")
            await shows(pilot, "No space left on device")
            await settled(pilot)
        await remark(pilot, "f5")
        await shows(pilot, "noted at step 2")
    assert yaml.safe_load(record.read_text())["feedback"][0]["text"] == "a thought"


async def test_notes_stand_in_the_order_of_their_steps(record: Path) -> None:
    with Session(record) as session:
        for at in (2, 0, 1):
            session.comment(at, f"about {at}")
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        assert [said.at for said in screen._shown] == [0, 1, 2]
        assert screen.marked is not None and screen.marked.text == "about 1"


async def test_the_list_is_narrowed_by_verdict_and_author(noted: Path) -> None:
    app = QuizlogApp(noted)
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        assert screen.marked is not None and screen.marked.text == "what now?"
        seen = []
        for _ in range(5):
            await notes(pilot, "f")
            seen.append((screen._verdict, len(screen._shown)))
        assert seen == [("right", 1), ("wrong", 1), ("unsure", 1), ("none", 1), (None, 4)]
        await notes(pilot, "w", "w")
        assert [said.author for said in screen._shown] == ["ann", "ann"]
        await notes(pilot, "f", "f")
        await shows(pilot, "None of the 4 notes matches")
        await notes(pilot, "enter")
        assert isinstance(app.screen, NotesScreen)


async def test_a_remark_that_somebody_else_writes_shows_up(noted: Path) -> None:
    app = QuizlogApp(noted)
    async with app.run_test(notifications=True) as pilot:
        screen = await opened(pilot)
        with Session(noted) as other:
            other.comment(0, "from elsewhere", "right", "eve")
        await shows(pilot, "from elsewhere")
        assert len(screen._shown) == 5
        await pilot.press("q")
        player = await settled(pilot)
        await shows(pilot, "another program changed the record")
        assert len(player.session.feedback) == 5


async def test_searching_and_filtering_the_list(noted: Path) -> None:
    app = QuizlogApp(noted)
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        await notes(pilot, "slash", *"bob", "enter", "ampersand")
        assert screen.marked is not None and screen.marked.author == "bob"
        await shows(pilot, "off by one,")
        await notes(pilot, "escape")
        assert isinstance(app.screen, NotesScreen)


async def test_enter_goes_to_the_step(noted: Path) -> None:
    app = QuizlogApp(noted)
    async with app.run_test() as pilot:
        await opened(pilot)
        await notes(pilot, "g")
        await pilot.press("enter")
        player = await settled(pilot)
        assert (player.state.step, player.session.record.branch) == (0, "main")


async def test_another_branch_is_switched_to_only_after_asking(noted: Path) -> None:
    app = QuizlogApp(noted)
    async with app.run_test() as pilot:
        screen = await opened(pilot)
        await pilot.press("k", "l")
        await shows(pilot, "Step 1 is on branch other. Switch to it?")
        await notes(pilot, "escape")
        assert screen.session.record.branch == "main"
        await pilot.press("l")
        await shows(pilot, "Switch to it?")
        await pilot.press("enter")
        player = await settled(pilot)
        while player.state.step != 1:
            await pilot.pause()
        assert player.session.record.branch == "other"


async def test_no_remarks_say_how_to_write_one(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await opened(pilot)
        await shows(pilot, "No notes yet.")
        await notes(pilot, "enter", "l")
        await shows(pilot, "there is nothing to go to")
        await pilot.press("F")
        await settled(pilot)


EVIL = "[/nope] [@click=app.quit]go[/] \x1b]0;owned\x07 \x9b31m \u202e \u2028 \x85"


async def test_no_remark_is_markup_or_a_control_sequence(build: Build) -> None:
    path = build.record(QUIZ, EVIL)
    data = yaml.safe_load(path.read_text())
    keys = ("branch", "author", "time", "verdict", "text", "other")
    data["feedback"] = [{"at": 0, **dict.fromkeys(keys, EVIL)}, EVIL]
    path.write_text(yaml.safe_dump(data))
    app = QuizlogApp(path)
    async with app.run_test(size=(180, 40), notifications=True) as pilot:
        await opened(pilot)
        text = screen_text(app)
        await notes(pilot, "g", "w", "w")
        text += screen_text(app)
        await pilot.press("enter")
        await shows(pilot, "stay here")
        text += screen_text(app)
        await pilot.press("enter")
        await settled(pilot)
        await shows(pilot, "there is no branch")
        await pilot.press("h")
        await remark(pilot)
        text += screen_text(app)
    assert text.count("[/nope] [@click=app.quit]go[/]") > 6
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2028\x85")


TIME = "2026-01-01T00:00:00+00:00"
WRONG = Feedback(3, "main", "ann", TIME, "wrong", "the sign is off")
PLAIN = Feedback(4, "fork-1", "bob", TIME, None, "two\nlines")
BARE = Feedback(None, None, None, None, "superb", "", {"model": "x"})


def test_filters_know_what_is_there() -> None:
    notes = [PLAIN, WRONG, BARE]
    assert verdicts_in(notes) == ["wrong", "superb", "none"]
    assert authors_in(notes) == ["", "ann", "bob"]
    assert filtered_notes(notes, verdict="none") == [PLAIN]
    assert filtered_notes(notes, author="") == [BARE]
    assert filtered_notes(notes, verdict="wrong", author="bob") == []
    assert filtered_notes(notes) == notes


def rows(width: int, *notes: Feedback) -> list[str]:
    grid = note_grid(notes, FrozenClock())
    grid.starts(width)
    return [grid[index].text.rstrip() for index in range(len(grid))]


def test_a_row_says_all_that_the_width_allows() -> None:
    assert rows(80, WRONG, PLAIN, BARE) == [
        "   3  ✗ wrong    the sign is off       ann     main    just now",
        "   4             two⏎lines             bob     fork-1  just now",
        "      superb",
    ]
    assert rows(40, WRONG) == ["   3  ✗ wrong    the sign is off"]


def test_a_remark_in_full() -> None:
    assert [each.text for each in note_lines(WRONG, FrozenClock())] == [
        "✗ wrong · step 3 of main · ann · just now",
        "the sign is off",
    ]
    assert [each.text for each in note_lines(BARE, FrozenClock())] == [
        "superb · on the whole record",
        "model: x",
    ]


def test_the_empty_list_says_how_to_write_one() -> None:
    assert "a in the player" in no_notes_lines(0, "a")[-1].text
    assert no_notes_lines(2, "a")[0].text == "None of the 2 notes matches."
    assert [verdict_line(each).text for each in (None, "right")] == ["– none", "✓ right"]


def test_foreign_text_is_made_visible() -> None:
    evil = "\x1b]0;x\x07\x9b31m\u202e"
    said = Feedback(1, evil, evil, evil, evil, evil, {evil: evil})
    text = "".join(rows(120, said)) + "".join(x.text for x in note_lines(said, FrozenClock()))
    assert not set(text) & set("\x1b\x07\x9b\u202e")
