"""What the player does besides stepping: events, marks, play, undo, amend, follow, panes, hand-overs."""

from __future__ import annotations

import os
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml
from textual.pilot import Pilot
from textual.widgets import Input

from quizlog_tui.config import Config, config_folder
from quizlog_tui.errors import UsageError
from quizlog_tui.files.paths import shipped
from quizlog_tui.session.reply import Reply
from quizlog_tui.session.session import Session
from quizlog_tui.session.timeline import Timeline
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.keys.keymap import shown
from quizlog_tui.tui.lessons import LESSONS, with_keys
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.export import report_name
from quizlog_tui.tui.screens.reading import MessagesScreen
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.state import State
from quizlog_tui.tui.toasts import complain, tell, warn
from quizlog_tui.tui.widgets.footer import Guide, MessageLine
from quizlog_tui.tui.widgets.line_view import LineView
from quizlog_tui.tui.widgets.row_list import RowList
from quizlog_tui.tui.widgets.scrubber import Scrubber
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.screens import (
    asking,
    found,
    idle,
    opened,
    patiently,
    playing,
    press,
    settled,
    shows,
    sized,
)

QUIZ = """
print("one")
print("two")
name = input("name? ")
for i in range(4):
    print("round", i)
    answer = input(f"number {i}? ")
    if answer == "bad":
        raise Exception("bad number")  #score = 0.3
print("end")
"""


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ, "Ada", "1", "2")


def data(record: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(record.read_text())
    return found


async def at_keys(pilot: Pilot[None]) -> Any:
    """The player with the keys in force."""
    await settled(pilot)
    return await press(pilot, "escape")


async def test_single_events_reveal_one_text_at_a_time(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await at_keys(pilot)
        screen = await press(pilot, "0", "comma", "comma")
        assert screen.query_one("#output", LineView).document.text(0) == "one"
        await press(pilot, "full_stop")
        assert "two" in screen_text(app)
        await press(pilot, "full_stop")
        await shows(pilot, "name? ▏")


async def test_marks_are_errors_and_forks(record: Path) -> None:
    with Session(record) as session:
        session.fork(1, "5")
        session.switch("main")
        session.answer("bad")
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await at_keys(pilot)
        seen = []
        for key in ("left_square_bracket", "right_square_bracket", "right_square_bracket"):
            await press(pilot, key)
            seen.append(screen.state.step)
        assert seen == [1, 4, 4]
        await shows(pilot, "no more markers")
        assert "┬" in screen_text(app) and "✗0.3" not in screen_text(app)


async def test_one_can_jump_to_a_step_by_number_and_with_the_slider(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await at_keys(pilot)
        await pilot.press("number_sign", "2", "enter")
        await idle(pilot)
        assert screen.state.step == 2
        await pilot.press("number_sign", "x", "enter")
        await shows(pilot, "is not a step")
        await pilot.click(Scrubber, offset=(1, 0))
        await idle(pilot)
        assert screen.state.step == 0


async def test_playing_goes_on_to_the_end_and_stops(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await at_keys(pilot)
        for _ in range(4):
            await press(pilot, "greater_than_sign")
        await pilot.press("space")
        while screen.state.step != 3 or screen.panes.playing:
            await pilot.pause(0.01)
        assert "▶" not in screen_text(app)
        await press(pilot, "space", "space")
        assert not screen.panes.playing


async def test_undo_and_redo(record: Path) -> None:
    async with playing(record, notifications=True) as pilot:
        await press(pilot, "7", "enter")
        assert data(record)["pointer"] == 4
        await press(pilot, "escape", "z")
        assert data(record)["pointer"] == 3
        await shows(pilot, "undone: answer")
        await press(pilot, "escape", "Z")
        assert data(record)["pointer"] == 4
        await press(pilot, "escape", "Z")
        await shows(pilot, "nothing to redo")


async def test_each_of_two_quick_undos_says_what_it_took_back(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(record, notifications=True) as pilot:
        screen = await settled(pilot)
        await press(pilot, "7", "enter")
        await press(pilot, "escape", "h", "r")
        told: list[str] = []
        typed, undo = threading.Event(), screen.session.undo
        monkeypatch.setattr(screen, "notify", lambda text, **_: told.append(text))
        monkeypatch.setattr(screen.session, "undo", lambda: typed.wait(60) and undo())
        await pilot.press("z", "z", "z")
        typed.set()
        await settled(pilot)
        assert [note.split()[:2] for note in told[:2]] == [
            ["undone:", "rewind"],
            ["undone:", "answer"],
        ]
        assert told[2:] == ["nothing to undo"] and data(record)["pointer"] == 3


async def test_a_rewound_tail_is_offered_and_taken_again(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await at_keys(pilot)
        await press(pilot, "h", "h", "r")
        assert data(record)["pointer"] == 1
        await shows(pilot, "T replays the 2 recorded answers")
        await press(pilot, "escape", "T")
        assert data(record)["pointer"] == 3


async def test_amend_keeps_later_answers(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await at_keys(pilot)
        await press(pilot, "h", "h", "A", "backspace", "9", "enter")
        assert data(record)["inputs"] == ["Ada", "9", "2"]


async def test_bisect_goes_to_the_answer_that_spoils(record: Path) -> None:
    with Session(record) as session:
        session.answer("bad")
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await at_keys(pilot)
        await press(pilot, "B")
        await shows(pilot, "main: bad at step 3 makes the outcome fail")
        assert screen.state.step == 3
        top = screen_text(app).splitlines()[0]
        assert top.startswith(" main: bad at step 3") and "step 3 of 4" in top


async def test_bisect_says_that_another_answer_fails_too(build: Build) -> None:
    path = build.record("input('a? ')\nraise Exception('no')\n", "x")
    with Session(path) as session:
        session.fork(0, "y", "other")
        session.switch("main")
    app = QuizlogApp(path)
    async with app.run_test() as pilot:
        await at_keys(pilot)
        await press(pilot, "B")
        await shows(pilot, "main: it fails at step 0 with x, and with 1 other answer too")


@pytest.mark.parametrize("answer", ["bad", "4"])
async def test_what_bisect_found_stays_until_an_answer_it_names_changes(
    answer: str, record: Path
) -> None:
    with Session(record) as session:
        session.answer(answer)
    said = "step 3 makes" if answer == "bad" else "no answer makes"
    app = QuizlogApp(record)
    async with app.run_test(size=(60, 20)) as pilot:
        await at_keys(pilot)
        await press(pilot, "B")
        await press(pilot, "h", "l", "j", "2", "1")
        assert said in screen_text(app).splitlines()[0]
        await press(pilot, "escape")
        assert said not in screen_text(app)
        await press(pilot, "B")
        assert said in screen_text(app).splitlines()[0]
        await press(pilot, "0", "r")
        assert said in screen_text(app).splitlines()[0]
        await press(pilot, "T", "0", "A", "end", "x", "enter")
        assert said not in screen_text(app)


async def test_an_error_however_long_shows_its_hint_on_a_small_screen(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(60, 20), notifications=True) as pilot:
        screen = await at_keys(pilot)
        complain(screen, UsageError("something is wrong " * 40, hint="mend it"))
        await shows(pilot, "something is wrong")
        await idle(pilot)
        assert "(mend it)" in screen_text(app)


@sized()
async def test_notes_that_pass_cover_neither_question_nor_scores(
    size: tuple[int, int], record: Path
) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=size, notifications=True) as pilot:
        screen = await at_keys(pilot)
        for number in range(3):
            warn(screen, f"{number} another program changed the record, and " + "more " * 20)
        await shows(pilot, "0 another program")
        await idle(pilot)
        messages = screen.query_one(MessageLine)
        assert messages.display
        for name in ("#prompt", "#scrubber", "#status"):
            assert not messages.region.overlaps(screen.query_one(name).region), name


async def test_a_note_that_is_out_of_date_gives_way_to_the_next(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await at_keys(pilot)
        for action in ("rewound", "undone", "redone"):
            tell(screen, action)
        for problem in ("the disk is full", "the script is gone", "the disk is full"):
            warn(screen, problem)
        tell(screen, "not found")
        await shows(pilot, "not found")
        await idle(pilot)
        shown = screen_text(app).splitlines()
    assert [row.strip() for row in shown[-3:]] == [
        "not found",
        "! the disk is full",
        "! the script is gone",
    ]


async def test_an_error_stays_until_a_key_is_pressed_and_then_in_the_list(record: Path) -> None:
    app = QuizlogApp(record)
    app.NOTIFICATION_TIMEOUT = 0
    async with app.run_test(notifications=True) as pilot:
        screen = await at_keys(pilot)
        keys = screen_text(app).splitlines()[-1]
        complain(screen, UsageError("the disk is full", hint="make room"))
        tell(screen, "this passes")
        await shows(pilot, "make room")
        for _ in patiently():
            if "this passes" not in screen_text(app):
                break
            await pilot.pause()
        assert "✗ the disk is full" in screen_text(app)
        await press(pilot, "h")
        assert screen_text(app).splitlines()[-1] == keys
        await pilot.press("M")
        await opened(pilot, MessagesScreen)
        listed = screen_text(app)
        assert listed.index("this passes") < listed.index("✗ the disk is full")
        await pilot.press("M")
        await settled(pilot)


async def test_old_answers_are_suggested_at_a_forked_prompt(record: Path) -> None:
    with Session(record) as session:
        session.fork(1, "55")
        session.switch("main")
    app = QuizlogApp(record)
    async with app.run_test(size=(120, 40)) as pilot:
        await at_keys(pilot)
        await press(pilot, "h", "h", "f")
        await shows(pilot, "other branches: 55")
        await press(pilot, "down", "enter")
    assert data(record)["inputs"] == ["Ada", "55"]


async def test_what_others_write_is_followed(record: Path) -> None:
    async with playing(record, notifications=True) as pilot:
        screen = await settled(pilot)
        with Session(record) as other:
            other.answer("8")
        await shows(pilot, "another program")
        assert screen.state.step == 4 and "number 2? 8" in screen_text(pilot.app)


async def test_panes_are_focused_by_number_also_where_there_is_room_for_one(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(60, 20)) as pilot:
        await at_keys(pilot)
        await press(pilot, "2")
        assert "Answers" in screen_text(app) and "Output" not in screen_text(app)
        await press(pilot, "3")
        assert "Source" in screen_text(app)
        await press(pilot, "1")
        assert "Output" in screen_text(app)


async def test_the_timeline_looks_where_its_mark_is(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await at_keys(pilot)
        await press(pilot, "2", "k", "k")
        assert screen.state.step == 1
        await press(pilot, "enter")
        assert screen.query_one("#answer").has_focus


async def test_search_marks_finds_and_filters(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        screen = await at_keys(pilot)
        timeline = screen.query_one("#timeline", RowList)
        await press(pilot, "2", "slash", *"NUMBER 1", "enter")
        assert screen.state.step == 2
        await press(pilot, "ampersand")
        assert len(timeline.document) == 1
        await press(pilot, "escape")
        assert len(timeline.document) == 4
        await press(pilot, "slash", *"nothing like it", "enter")
        await shows(pilot, "not found")
        await press(pilot, "escape", "n")
        await shows(pilot, "no search yet")


async def test_copy_says_how(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr("pyperclip.copy", copied.append)
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await at_keys(pilot)
        await press(pilot, "y")
        await shows(pilot, "characters copied")
    assert copied[0].startswith("one\ntwo\nname? Ada")


async def test_without_a_clipboard_the_terminal_is_asked(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyperclip

    def fail(text: str) -> None:
        raise pyperclip.PyperclipException("none")

    monkeypatch.setattr("pyperclip.copy", fail)
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await at_keys(pilot)
        await press(pilot, "y")
        await shows(pilot, "OSC 52")
        assert app.clipboard.startswith("one")


EXPORTS = [
    ("screen.svg", "<svg", False),
    ("screen.txt", " ● waiting", False),
    ("{}.html", "<!doctype html>", False),
    ("{}.html", "<!doctype html>", True),
    ("{}.md", "<!-- quizlog export -->", False),
]
"""The files that are offered, in their order: name, first words, and whether it has a player."""


async def test_an_export_of_the_screen_and_of_the_record(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(record.parent)
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await at_keys(pilot)
        for row, (name, begins, player) in enumerate(EXPORTS):
            await pilot.press("x", *["j"] * row, "enter")
            await asking(pilot)
            await pilot.press("enter")
            await shows(pilot, "written to")
            await settled(pilot)
            app.clear_notifications()
            target = record.parent / name.format(record.parent.name)
            text = target.read_text()
            assert text.startswith(begins) and "Ada" in text
            assert ("<script>" in text) == player
            target.unlink()


def test_reports_of_two_records_have_two_names() -> None:
    assert [report_name(Path(name)) for name in ("a/record.yaml", "b/record.yaml", "b/c.yaml")] == [
        "a",
        "b",
        "c",
    ]


async def test_an_export_replaces_nothing_unasked(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(record.parent)
    target = record.parent / "screen.svg"
    target.write_text("mine")
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await at_keys(pilot)
        for answer in ("enter", "escape"):
            await pilot.press("x", "enter", "enter")
            await shows(pilot, "screen.svg exists already.")
            await pilot.press(answer)
            await asking(pilot)
            assert target.read_text() == "mine"
            await pilot.press("escape")
            await settled(pilot)
        await pilot.press("x", "enter", "enter")
        await shows(pilot, "screen.svg exists already.")
        await pilot.press("j", "enter")
        await shows(pilot, "written to")
    assert target.read_text().startswith("<svg")


async def test_a_name_that_no_file_can_have_is_told(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await at_keys(pilot)
        for name in ("n" * 300, "~nobody/x", "x\0y"):
            await pilot.press("x", "enter")
            screen = await asking(pilot)
            screen.query_one(Input).value = name
            await pilot.press("enter")
            await shows(pilot, "cannot write")
            app.clear_notifications()
            await pilot.press("escape")
            await settled(pilot)


async def test_a_missing_editor_is_told(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await at_keys(pilot)
        await press(pilot, "e")
        await shows(pilot, "there is no editor (set $EDITOR)")
        await press(pilot, "v")
        await shows(pilot, "there is no pager")


async def test_a_theme_is_previewed_and_remembered(record: Path, tmp_path: Path) -> None:
    state = State(tmp_path / "state.json")
    app = QuizlogApp(record, state=state)
    async with app.run_test() as pilot:
        await at_keys(pilot)
        before = app.theme
        await pilot.press("f2", "j")
        await idle(pilot)
        assert app.theme != before
        await pilot.press("escape")
        await idle(pilot)
        assert app.theme == before
        await pilot.press("f2", "j", "enter")
        await idle(pilot)
        chosen = app.theme
    assert chosen != before and State(tmp_path / "state.json").theme == chosen
    assert QuizlogApp(record, state=State(tmp_path / "state.json")).theme == chosen


async def test_a_users_theme_is_taken_and_a_wrong_one_told_where_one_chooses(record: Path) -> None:
    folder = config_folder() / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text('name: "mine"\nprimary: "#00ff00"\n')
    (folder / "other.yaml").write_text('name: "other"\nprimary: "zzz"\n')
    app = QuizlogApp(record, Config(theme="mine"))
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        assert app.theme == "mine" and app.theme_variables["primary"] == "#00FF00"
        await pilot.press("f2")
        await shows(pilot, "is not a colour")


async def test_own_keys_work_and_clashes_are_told(record: Path) -> None:
    app = QuizlogApp(record, Config(keys={"player.back": "F5", "player.fork": "F6"}))
    async with app.run_test(notifications=True) as pilot:
        screen = await at_keys(pilot)
        await press(pilot, "f5")
        assert screen.state.step == 2
        await press(pilot, "h")
        assert screen.state.step == 2
    async with playing(record, Config(keys={"player.back": "f"}), notifications=True) as pilot:
        await shows(pilot, "would do both")


async def test_the_palette_runs_an_action(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await at_keys(pilot)
        await pilot.press("ctrl+p", *"show the first step")
        await found(pilot, "First: show the first step")
        await pilot.press("down", "enter")
        await idle(pilot)
        while screen.state.step:
            await pilot.pause(0.01)


async def test_the_palette_has_what_is_named_so_first(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await at_keys(pilot)
        await pilot.press("ctrl+p", *"fork")
        await found(pilot, "Fork: give another answer here")
        await idle(pilot)
        rows = screen_text(app).splitlines()
        assert "Fork: give another" in next(
            row for row in rows if ": " in row and "fork" in row.lower()
        )


async def test_the_place_is_found_again(record: Path, tmp_path: Path) -> None:
    state = State(tmp_path / "state.json")
    for expected in (3, 1):
        app = QuizlogApp(record, state=state)
        async with app.run_test() as pilot:
            screen = await at_keys(pilot)
            assert screen.state.step == expected
            await pilot.press("h", "h", "q")
            await pilot.pause()


async def test_the_guide_goes_on_when_a_lesson_is_done(build: Build) -> None:
    path = build.record(QUIZ.replace('print("one")', ""))
    async with playing(path, guided=True, size=(110, 34)) as pilot:
        screen = await settled(pilot)
        guide = screen.query_one(Guide)
        for keys in ((*"Ada", "enter"), (*"bad", "enter"), ("1", "enter"), ("escape", "h"), ("l",)):
            lesson = guide.lesson
            await pilot.press(*keys)
            while guide.lesson == lesson:
                await pilot.pause(0.01)
        assert f"6/{len(LESSONS)}" in screen_text(pilot.app)


@pytest.mark.parametrize("tag", few(["#matrix", "#textarea", ""]))
async def test_the_source_shows_the_line_of_the_error_a_record_opens_on(
    tag: str, build: Build
) -> None:
    before = "".join(f"x{i} = {i}\n" for i in range(60))
    after = before.replace("x", "y")
    path = build.record(f"{before}input('A: ')  {tag}\nraise Exception('no')\n{after}", "1")
    async with playing(path, size=(130, 40)) as pilot:
        screen = await settled(pilot)
        await shows(pilot, "62 raise Exception")
        source = screen.query_one("#source", RowList)
        assert source.index == 61 and source.scroll_offset.y > 40


async def test_the_source_shows_the_other_file_that_asks_and_the_script_again(build: Build) -> None:
    build.script("# helper\ndef ask(text):\n    return input(text)\n", "asking.py")
    path = build.record("from asking import ask\ninput('A: ')\nask('B: ')\n", "1")
    async with playing(path, size=(130, 40)) as pilot:
        screen = await settled(pilot)
        await shows(pilot, "return input(text)")
        source = screen.query_one("#source", RowList)
        assert (source.border_title, source.index) == ("Source: asking.py", 2)
        await press(pilot, "escape", "h")
        await shows(pilot, "ask('B: ')")
        assert (source.border_title, source.index) == ("Source", 1)


WRONG_TURNS = [
    (1, "wrong"),
    (1, ("escape", "h", "l", "i")),
    (1, "right"),
    (2, "right"),
    (2, "right"),  # instead of a wrong one
    (2, "right"),
    (2, "right"),  # until nothing is asked any more
    (2, ("escape", "h", "r", "i")),
    (2, "wrong"),
    (3, "wrong"),
    (3, ("escape", "h", "l", "i")),
    (3, "right"),
    (4, ("escape", "question_mark", "escape")),
    (4, ("h", "h")),
    (5, ("h", "b", "escape")),
    (5, ("dollar_sign",)),
    (6, ("question_mark", "escape", "F", "escape")),
    (6, ("b", "j")),
    (7, ("escape",)),
    (8, ("b", "escape", "h", "f", "escape", "escape")),
    (8, ("0", "f", "ctrl+u", *"12345", "enter")),
    (9, ("c", "escape", "b", "escape")),
    (9, ("c", "enter")),
    (10, ("escape",)),
    (11, ("colon", "escape", "b", "escape")),
    (11, ("question_mark",)),
    (12, ()),
]
"""Keys with the lesson that is shown when they are pressed."""


async def test_no_wrong_turn_skips_or_ends_the_guide(tmp_path: Path) -> None:
    shutil.copytree(shipped("records") / "arithmetic", tmp_path / "arithmetic")
    app = QuizlogApp(tmp_path / "arithmetic" / "record.yaml", guided=True)
    async with app.run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        for lesson, keys in WRONG_TURNS:
            await shows(pilot, f"☞ {lesson}/{len(LESSONS)}")
            if isinstance(keys, str):
                a, sign, b = re.findall(r"\. (\d+) ([-+*]) (\d+) =", screen_text(app))[-1]
                right = {"+": int(a) + int(b), "-": int(a) - int(b), "*": int(a) * int(b)}[sign]
                keys = (*str(right if keys == "right" else 1000), "enter")
            if (lesson, keys) == (2, ("escape", "h", "r", "i")):
                await shows(pilot, "The script is finished. Press h, then r, to be asked again")
            for key in keys:
                await pilot.press(key)
                await idle(pilot)
        assert app.tour is not None and app.tour.lesson + 1 == len(LESSONS)


async def test_the_guide_speaks_of_an_error_only_where_one_is_seen(record: Path) -> None:
    async with playing(record, guided=True, size=(110, 34)) as pilot:
        await press(pilot, "b", "a", "d", "enter")
        await shows(pilot, f"☞ 3/{len(LESSONS)} You see the error")
        await press(pilot, "escape", "h")
        await shows(pilot, f"☞ 3/{len(LESSONS)} Now give the right answer: $ goes to the question")
        await press(pilot, "dollar_sign")
        await shows(pilot, f"☞ 3/{len(LESSONS)} You see the error")
        await press(pilot, "escape", "0", "f", "2", "enter")
        await shows(pilot, f"☞ 4/{len(LESSONS)}")


async def test_the_guide_is_on_every_screen_and_keeps_its_lesson(record: Path) -> None:
    with Session(record) as session:
        session.answer("bad")
        session.fork(1, "5")
    app = QuizlogApp(record, guided=True)
    async with app.run_test(size=(110, 34)) as pilot:
        await at_keys(pilot)
        assert app.tour is not None
        app.tour.lesson = 5
        for keys, lesson in (("F", 6), ("escape", 6), ("b", 7), ("escape", 8), ("s", 8)):
            await pilot.press(keys)
            await idle(pilot)
            await shows(pilot, f"☞ {lesson}/{len(LESSONS)}")
        await press(pilot, "escape", "escape")
        app.tour.lesson = 8
        await pilot.press("c", "enter")
        await shows(pilot, f"☞ 10/{len(LESSONS)} Press Escape to go back.")


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
async def test_a_long_record_is_looked_at_as_recorded_while_it_is_replayed(
    suffix: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quizlog_tui.tui.app._LONG", 0)
    script = "import time\nprint('seen')\ninput('a? ')\nprint('later')\ninput('b? ')\n"
    path = build.record(script, "1")
    path = path.rename(path.with_suffix(suffix))
    with Session(path) as session:
        session.save()
    build.script(script.replace("input", "while True: pass\ninput", 1))
    async with QuizlogApp(path).run_test(notifications=True) as pilot:
        await shows(pilot, "replaying; Escape stops it · as recorded")
        await shows(pilot, "later")
        await pilot.press("h")
        await shows(pilot, "step 0 of 1")
        await pilot.press("i")
        await shows(pilot, "quiz.py: was not run yet")
        await pilot.press("escape")
        await shows(pilot, "stopped before the next question")
        build.script(script)
        await pilot.press("R")
        screen = await settled(pilot)
        assert (screen.session.awaits_replay, screen.state.step) == (False, 1)
        screen = await press(pilot, "i", "2", "enter")
        assert screen.session.record.status == "success"


async def test_after_the_replay_one_is_where_one_went_or_at_the_question(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quizlog_tui.tui.app._LONG", 0)
    path = build.record("import time, os\nfor i in range(9): input(f'{i}? ')", *"abcde")
    goes, go_on = Session.reload, threading.Event()

    def waiting(session: Session) -> Reply:
        assert go_on.wait(60)
        return goes(session)

    monkeypatch.setattr(Session, "reload", waiting)
    for keys, step in ((), 5), (("h", "h"), 3):
        go_on.clear()
        async with QuizlogApp(path).run_test() as pilot:
            await shows(pilot, "as recorded")
            await pilot.press(*keys)
            await shows(pilot, f"step {step} of 5")
            go_on.set()
            screen = await settled(pilot)
            assert screen.state.step == step and screen.session.missing is None
            assert screen.panes.prompt.has_focus_within is not bool(keys)


def test_the_guide_names_the_keys_as_the_user_has_them() -> None:
    fork = next(lesson for lesson in LESSONS if "Fork" in lesson.text)
    said = with_keys(fork.text, lambda name: shown(name, {"player.fork": "ctrl+f"}))
    assert said == "Fork: go back with h, press ctrl+f, and give another answer there."
    texts = [text for each in LESSONS for text in (each.text, each.finished, each.unseen)]
    assert not any("{" in with_keys(text, lambda name: shown(name, {})) for text in texts)


def rows(screen: PlayerScreen) -> Timeline:
    return screen.known.timeline(screen.state.whole)


async def test_a_step_leaves_the_timeline_of_a_long_record_as_it_is(build: Build) -> None:
    answers = map(str, range(300))  # small numbers are the same object every time
    app = QuizlogApp(build.record("for i in range(301): input(f'{i}? ')", *answers))
    async with app.run_test() as pilot:
        before = rows(await at_keys(pilot))
        assert rows(await press(pilot, "h", "h")) is before
        assert rows(await press(pilot, "r")) is not before


async def test_the_source_marks_the_line_of_what_is_shown_alone(build: Build) -> None:
    path = build.record(
        """
        first = input("first? ")
        if first == "bad":
            raise Exception("no")  #score = 0.5
        input("second? ")
        """,
        "good",
        "end",
    )
    with Session(path) as session:
        session.keep(0, "bad", "failed")
    async with playing(path, size=(120, 40)) as pilot:
        screen = await settled(pilot)
        source = screen.query_one("#source", RowList)
        assert source.cursor is None  # it has ended
        await press(pilot, "h")
        assert source.document[source.cursor or 0].text.endswith('input("second? ")')
        await press(pilot, "l")
        assert source.cursor is None
        screen.session.switch("failed")
        await press(pilot, "R")
        assert "raise" in source.document[source.cursor or 0].text
        screen.editing.switch("main")
        await press(pilot, "dollar_sign")
        assert source.cursor is None and "›" not in screen_text(pilot.app).split("Source")[1]
