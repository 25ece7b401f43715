"""The library: rows and previews as they are drawn, the shelf that holds the records, and the screen.

Golden text at three sizes, every key, and what others do to the folder.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Input

from quizlog_tui.errors import UsageError
from quizlog_tui.files.paths import shipped
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError, Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.summary import Preview, Summary, find_records, summary
from quizlog_tui.replay.script.granted import grant
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.session.audit import Audit
from quizlog_tui.tui import shelf
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.keys.keymap import shown
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.library import LibraryScreen
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.shelf import (
    ORDERS,
    STATUSES,
    Shelf,
    arranged,
    changes,
    library_grid,
    neighbour,
    nothing_lines,
    preview_lines,
    read_some,
    record_layout,
    record_line,
    scripts_without,
)
from quizlog_tui.tui.widgets.documents import rows as drawn_rows
from tests.support.screens import (
    SIZE,
    SIZES,
    ask,
    asking,
    check,
    idle,
    patiently,
    playing,
    settled,
    shows,
)

QUIZ = "a = input('first? ')\nb = input('second? ')\nprint('done')\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("quizlog_tui.tui.screens.library._PAUSES", 0)
    folder = tmp_path / "audits"
    folder.mkdir()
    (folder / "quiz.py").write_text(QUIZ)
    monkeypatch.chdir(folder)
    return folder


def put(folder: Path, name: str, *inputs: str, **more: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    script = os.path.relpath(folder / "quiz.py", path.parent)
    RecordFile(path).create(Record(script, 7, AppendOnlyList(inputs), len(inputs), **more))
    return path


@pytest.fixture
def records(folder: Path) -> Path:
    put(folder, "alpha/record.yaml", "1", "2", status="success")
    put(folder, "beta/record.yaml", "1")
    put(folder, "gamma.yaml", "1", "x", status="error", last_error=LastError("no", 2, 0.25))
    (folder / "spoilt.yaml").write_text("script: quiz.py\nseed: many\n")
    return folder


async def library(pilot: Pilot[Any]) -> LibraryScreen:
    for _ in patiently():
        await idle(pilot)
        screen = pilot.app.screen
        if isinstance(screen, LibraryScreen) and not screen.scanning:
            return screen
    raise AssertionError(f"no library:\n{screen_text(pilot.app)}")


async def press(pilot: Pilot[Any], *keys: str) -> LibraryScreen:
    await pilot.press(*keys)
    return await library(pilot)


def marked(screen: LibraryScreen) -> str | None:
    return screen.marked.path.relative_to(Path.cwd()).as_posix() if screen.marked else None


def listed(screen: LibraryScreen) -> Iterator[str]:
    return (one.path.parent.name + "/" + one.path.stem for one in screen.shelf.shown)


async def open_neighbour(pilot: Pilot[Any], key: str, name: str) -> PlayerScreen:
    """Go to the record beside, wait until it is there."""
    await pilot.press(key)
    for _ in patiently():
        screen = await settled(pilot)
        if screen.session.path == Path.cwd() / name:
            return screen
    raise AssertionError(f"{name} never opened:\n{screen_text(pilot.app)}")


@pytest.mark.parametrize(
    ("scene", "size"), [*(("library", size) for size in SIZES), ("library-none", SIZE)]
)
async def test_golden_screens(scene: str, size: tuple[int, int], records: Path) -> None:
    app = QuizlogApp(clock=FrozenClock())
    async with app.run_test(size=size) as pilot:
        await library(pilot)
        if scene == "library-none":
            for name in ("alpha/record.yaml", "gamma.yaml"):
                (records / name).unlink()
            await press(pilot, "f", "f")
            await shows(pilot, "None of 2 records")
        elif size[0] >= 100:
            await shows(pilot, "✓ finished, score 1")
            await library(pilot)
        check(scene, size, screen_text(app))


async def test_it_is_sorted_turned_and_narrowed_and_the_order_is_remembered(records: Path) -> None:
    app = QuizlogApp()
    async with app.run_test() as pilot:
        screen = await library(pilot)
        assert marked(screen) == "alpha/record.yaml"
        await press(pilot, "s", "s")
        assert list(listed(screen))[:2] == ["alpha/record", "audits/gamma"]
        await press(pilot, "S")
        assert list(listed(screen))[:2] == ["audits/gamma", "alpha/record"]
        assert marked(screen) == "alpha/record.yaml"
        await press(pilot, "f", "f", "f")
        assert list(listed(screen)) == ["audits/gamma"]
        await press(pilot, "f")
        assert marked(screen) == "spoilt.yaml"
    again = QuizlogApp()
    assert again.state.sorting == "score backwards"


async def test_a_click_on_a_title_sorts(records: Path) -> None:
    app = QuizlogApp()
    async with app.run_test() as pilot:
        screen = await library(pilot)
        await pilot.click("#heads", offset=(3, 0))
        await library(pilot)
        assert next(listed(screen)) == "audits/spoilt"


async def test_the_watch_follows_what_others_write(records: Path) -> None:
    app = QuizlogApp()
    async with app.run_test(size=(100, 24)) as pilot:
        await library(pilot)
        screen = await press(pilot, "j")
        assert marked(screen) == "beta/record.yaml"
        put(records, "aaa.yaml", "1")
        (records / "alpha/record.yaml").unlink()
        path = records / "beta/record.yaml"
        (records / "part").write_bytes(path.read_bytes().replace(b"pointer: 1", b"pointer: 0"))
        (records / "part").replace(path)
        await shows(pilot, "beta/record.yaml just now ● waiting 0/1")
        await shows(pilot, "aaa.yaml")
        assert "alpha" not in screen_text(app)
        assert marked(screen) == "beta/record.yaml"


async def test_it_is_not_drawn_again_while_nothing_changes(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = QuizlogApp()
    async with app.run_test() as pilot:
        screen = await library(pilot)
        drawn: list[str] = []
        monkeypatch.setattr(screen, "draw", lambda: drawn.append("drawn"))
        for _ in range(2):
            before = screen._scan
            screen._look_from = 0.0
            screen.look_around()
            while screen._scan is before or screen.scanning:
                await pilot.pause()
            await library(pilot)
        assert not drawn
        put(records, "delta.yaml", "1")
        while not drawn:
            await pilot.pause()


async def test_opening_coming_back_and_going_on_to_the_neighbours(records: Path) -> None:
    app = QuizlogApp()
    async with app.run_test(notifications=True) as pilot:
        await library(pilot)
        await press(pilot, "j")
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("escape")
        player = await open_neighbour(pilot, "H", "alpha/record.yaml")
        assert not isinstance(app.focused, Input)
        await pilot.press("H")
        await shows(pilot, "no more records that way")
        await open_neighbour(pilot, "L", "beta/record.yaml")
        await open_neighbour(pilot, "L", "gamma.yaml")
        player = await open_neighbour(pilot, "H", "beta/record.yaml")
        assert len(app.screen_stack) == 3
        await pilot.press("i")
        assert isinstance(app.focused, Input)
        await pilot.press("2", "enter")
        await settled(pilot)
        assert player.state.shown.status == "success"
        await pilot.press("q")
        screen = await library(pilot)
        assert marked(screen) == "beta/record.yaml"
        await shows(pilot, "beta/record.yaml just now ✓ finished 1")
    again = QuizlogApp()
    async with again.run_test() as pilot:
        assert marked(await library(pilot)) == "beta/record.yaml"


async def test_a_record_that_cannot_be_opened_is_told_and_edited(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(
        "quizlog_tui.tui.screens.library.external.edit",
        lambda app, path, line: opened.append(path),
    )
    app = QuizlogApp()
    async with app.run_test(notifications=True) as pilot:
        await library(pilot)
        await press(pilot, "G", "l")
        await shows(pilot, "must be a whole number")
        await press(pilot, "e")
        assert isinstance(app.screen, LibraryScreen)
    assert opened == [records / "spoilt.yaml"]


async def test_a_new_record_gets_a_free_name_and_is_opened(records: Path) -> None:
    (records / "quiz.yaml").write_text("mine")
    app = QuizlogApp(clock=FrozenClock())
    async with app.run_test(notifications=True) as pilot:
        await library(pilot)
        await ask(pilot, "plus", "quiz.py", "many")
        await shows(pilot, "'many' is not a whole number")
        await asking(pilot)  # again, with what was typed
        await ask(pilot, "enter", "42")
        player = await settled(pilot)
        assert player.session.path.name == "quiz-2.yaml"
        await pilot.press("escape", "q")
        await library(pilot)
        await shows(pilot, "quiz-2.yaml")
        await ask(pilot, "plus", "gone.py", "1")
        await shows(pilot, "gone.py: ")
        assert (await asking(pilot)).query_one(Input).value == "gone.py"
    assert yaml.safe_load((records / "quiz-2.yaml").read_text())["seed"] == 42
    assert (records / "quiz.yaml").read_text() == "mine"


async def test_what_is_no_script_gets_no_record(records: Path) -> None:
    before = sorted(records.iterdir())
    async with QuizlogApp().run_test(notifications=True) as pilot:
        for named, kind in (("/", "a directory"), ("spoilt.yaml", "a record")):
            await library(pilot)
            await ask(pilot, "plus", named, "1")
            await shows(pilot, f"is {kind}, not a script")
            assert (await asking(pilot)).query_one(Input).value == named
            await pilot.press("escape")
    assert sorted(records.iterdir()) == before


async def test_a_new_record_of_a_script_without_questions_is_finished_on_disk(
    records: Path,
) -> None:
    (records / "speech.py").write_text("print('no question')\n")
    async with QuizlogApp().run_test(notifications=True) as pilot:
        await library(pilot)
        await ask(pilot, "plus", "speech.py", "1")
        player = await settled(pilot)
        assert player.session.path.name == "speech.yaml"
    kept = yaml.safe_load((records / "speech.yaml").read_text())
    assert (kept["status"], kept["print"]) == ("success", ["no question"])


async def test_a_script_without_a_record_is_listed_and_enter_makes_one(records: Path) -> None:
    (records / "other.py").write_text(QUIZ)
    (records / "helper.py").write_text("one = 1\n")
    before = sorted(records.iterdir())
    async with QuizlogApp().run_test(notifications=True) as pilot:
        screen = await library(pilot)
        assert [one.path.name for one in screen.shelf.listed[4:]] == ["other.py"]
        await shows(pilot, "other.py + no record")
        await press(pilot, "G")
        assert marked(screen) == "other.py"
        await shows(pilot, "other.py: a script without a record; enter makes one")
        assert len([*screen.paths]) == 4  # nothing but records is searched
        await press(pilot, "f")
        assert len(screen.shelf.listed) == 1
        await press(pilot, "escape", "G")
        assert sorted(records.iterdir()) == before
        await pilot.press("enter")
        player = await settled(pilot)
        assert player.session.path == records / "other.yaml"
        await pilot.press("escape", "escape")
        screen = await library(pilot)
        await shows(pilot, "other.yaml")
        for _ in patiently():
            if len(screen.shelf.listed) == 5:
                break
            await pilot.pause()
        assert not screen.shelf.scripts and marked(screen) == "other.yaml"


async def test_a_new_record_that_cannot_be_opened_is_told(folder: Path) -> None:
    (folder / "huge.py").write_text("bytearray(2**42)\ninput('? ')\n")
    app = QuizlogApp(folder)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await shows(pilot, "huge.py: a script without a record; enter makes one")
        await pilot.press("enter")
        await shows(pilot, "the record huge.yaml was made, but not opened")
        await shows(pilot, "needed more than")
        assert (folder / "huge.yaml").exists()


async def test_audit_mode_makes_no_record_of_a_script(records: Path) -> None:
    (records / "other.py").write_text(QUIZ)
    before = sorted(records.iterdir())
    async with QuizlogApp(audit=Audit("--read-only")).run_test(notifications=True) as pilot:
        await library(pilot)
        await press(pilot, "G")
        await shows(pilot, "other.py: a script without a record")
        await press(pilot, "enter")
        await shows(pilot, "locked; this would write: a new record")
    assert sorted(records.iterdir()) == before


def test_a_script_is_known_by_its_place(records: Path) -> None:
    (records / "other.py").write_text(QUIZ)
    (records / "linked.py").symlink_to("quiz.py")
    found = [summary(records / name) for name in ("gamma.yaml", "spoilt.yaml")]
    assert scripts_without(found, records) == [records / "other.py"]
    assert scripts_without([], records) == [
        records / f"{n}.py" for n in ("linked", "other", "quiz")
    ]
    assert scripts_without([], records / "nowhere") == []


async def test_an_empty_folder_shows_the_examples(folder: Path) -> None:
    (folder / "quiz.py").unlink()
    app = QuizlogApp()
    async with app.run_test(notifications=True) as pilot:
        await shows(pilot, f"no records below {folder}: here are examples to play with")
        screen = await library(pilot)
        assert len(screen.shelf) == len([*shipped("records").glob("*/*.yaml")])


async def test_without_a_record_the_own_scripts_stand_above_the_examples(folder: Path) -> None:
    app = QuizlogApp()
    async with app.run_test(size=(160, 40), notifications=True) as pilot:
        await shows(pilot, "its scripts come first, and here are examples to play with")
        screen = await library(pilot)
        examples = len([*shipped("records").glob("*/*.yaml")])
        assert len(screen.shelf) == examples and len(screen.shelf.listed) == examples + 1
        assert marked(screen) == "quiz.py"
        await shows(pilot, f"1 script without a record · {examples} records · by name")
        await shows(pilot, "quiz.py + no record")
        await shows(pilot, "quiz.py: a script without a record; enter makes one")
        assert screen.neighbour(screen.paths[0], 1) == screen.paths[1]
        await press(pilot, "g")
        await pilot.press("enter")
        player = await settled(pilot)
        assert player.session.path == folder / "quiz.yaml"
        await pilot.press("escape", "escape")
        screen = await library(pilot)
        await shows(pilot, "1 record · by name")
        assert screen.paths == [folder / "quiz.yaml"] and marked(screen) == "quiz.yaml"
        assert not screen.shelf.scripts


async def test_an_empty_folder_without_examples_says_how_to_begin(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def readonly() -> Path:
        raise UsageError("cannot copy the examples: Permission denied")

    monkeypatch.setattr("quizlog_tui.tui.app.own_examples", readonly)
    app = QuizlogApp()
    async with app.run_test(notifications=True) as pilot:
        await shows(pilot, "cannot copy the")
        await shows(pilot, "quiz.py: a script without a record; enter makes one")
        (folder / "quiz.py").write_text("print('no question')\n")
        await press(pilot, "R")
        await shows(pilot, "quizlog new SCRIPT")
        put(folder, "late.yaml")
        await shows(pilot, "late.yaml")


async def test_escape_stops_a_long_search_and_reload_goes_on(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Event()

    def slowly(folder: Path) -> Iterator[Path]:
        for number, path in enumerate(find_records(folder)):
            if number == 2:
                held.wait()
            yield path

    monkeypatch.setattr(shelf, "_SLICE", -1.0)
    monkeypatch.setattr("quizlog_tui.tui.screens.library.find_records", slowly)
    app = QuizlogApp()
    async with app.run_test() as pilot:
        try:
            await shows(pilot, "2 records · by name · looking for more; Escape stops")
            await pilot.press("escape")
            await shows(pilot, "stopped; R looks for all")
        finally:
            held.set()
        screen = await press(pilot, "R")
        assert len(screen.shelf) == 4
        await pilot.press("q")
        await idle(pilot)
    assert app.return_code == 0


EVIL = "[/nope] [@click=app.quit]go[/] \x1b]0;owned\x07 \x9b31m \u202e \u2028 \x85"


async def test_no_name_or_problem_is_markup_or_a_control_sequence(folder: Path) -> None:
    name = EVIL.replace("/", "|")
    put(folder, f"{name}.yaml", "1")
    (folder / "bad.yaml").write_text(yaml.safe_dump({"script": "q", "seed": 1, "status": EVIL}))
    app = QuizlogApp()
    async with app.run_test(size=(180, 40), notifications=True) as pilot:
        await library(pilot)
        text = screen_text(app)
        await press(pilot, "j", "enter")
        text += screen_text(app)
        await press(pilot, "g")
        await pilot.press("enter")
        await settled(pilot)
        text += screen_text(app)
    assert "[|nope] [@click=app.quit]go[|]" in text
    assert "unknown status '[/nope] [@click=app.quit]go[/]" in text
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2028\x85")


async def test_a_folder_may_be_named_instead_of_a_record(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    app = QuizlogApp(records)
    async with app.run_test() as pilot:
        await library(pilot)
        await shows(pilot, "spoilt.yaml")


async def test_the_marked_record_names_what_its_script_asks_for(folder: Path) -> None:
    put(folder, "a.yaml", "1")
    (folder / "asks.py").write_text("#quizlog: real-files\nimport time  #quizlog: real-clock\n")
    RecordFile(folder / "b.yaml").create(Record("asks.py", 7))
    RecordFile(folder / "c.yaml").create(Record("gone.py", 7))
    before = sorted(folder.iterdir())
    app = QuizlogApp(folder)
    async with app.run_test(size=(110, 30)) as pilot:
        await library(pilot)
        assert "asks for" not in screen_text(app)
        await press(pilot, "j")
        await shows(pilot, "asks.py asks for real-clock (not allowed), real-files (not allowed)")
        grant(read_source(folder / "asks.py"), ["real-files"])
        await press(pilot, "k", "j")
        await shows(pilot, "asks.py asks for real-clock (not allowed), real-files (allowed)")
        await press(pilot, "j")
        await shows(pilot, "gone.py cannot be run: the script does not exist")
    assert sorted(folder.iterdir()) == before


async def test_what_was_allowed_in_the_player_shows_when_one_comes_back(folder: Path) -> None:
    (folder / "asks.py").write_text("import time  #quizlog: real-clock\ninput('first? ')\n")
    RecordFile(folder / "b.yaml").create(Record("asks.py", 7))
    app = QuizlogApp(folder)
    async with app.run_test(size=(110, 30)) as pilot:
        await library(pilot)
        await shows(pilot, "asks for real-clock (not allowed)")
        await pilot.press("enter")
        await shows(pilot, "asks.py asks for real-clock.")
        await pilot.press("j", "enter")
        await settled(pilot)
        await pilot.press("escape", "q")
        await library(pilot)
        await shows(pilot, "asks for real-clock (allowed)")


async def test_escape_goes_back_to_the_library_and_never_out_of_it(records: Path) -> None:
    app = QuizlogApp()
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        screen = await library(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert "q Library" in screen_text(app).splitlines()[-1]
        screen = await press(pilot, "escape", "escape")
        assert marked(screen) == "alpha/record.yaml"
        await press(pilot, "f")
        assert len(list(listed(screen))) < 4
        await press(pilot, "escape")
        assert len(list(listed(screen))) == 4
        assert "q Quit" in screen_text(app).splitlines()[-1]
        await pilot.press("escape", "escape")
        await shows(pilot, "q leaves quizlog")


async def test_escape_does_not_lose_typed_text(records: Path) -> None:
    app = QuizlogApp()
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await library(pilot)
        await pilot.press("down", "enter")
        await settled(pilot)
        await pilot.press(*"half", "escape", "h", "escape", "escape")
        await shows(pilot, "there is typed text; q goes back to the library without it")
        await pilot.press("l", "i", "ctrl+u", "escape", "escape")
        await library(pilot)


async def test_escape_does_not_end_a_record_opened_alone(records: Path) -> None:
    async with playing(records / "beta" / "record.yaml", size=(120, 30)) as pilot:
        await pilot.press("escape", "escape", "escape")
        await settled(pilot)
        assert "q Leave" in screen_text(pilot.app).splitlines()[-1]


async def test_a_preview_beside_the_list_tells_of_the_marked_record(records: Path) -> None:
    remark = {"at": 1, "author": "ann", "verdict": "wrong", "text": "look here"}
    put(
        records,
        "delta.yaml",
        "1",
        "x",
        status="error",
        last_error=LastError("the lamp broke", 2, 0.25),
        print=AppendOnlyList(["first", "\x1b[31mred\x1b[0m apple"]),
        extras={"feedback": [remark]},
    )
    app = QuizlogApp()
    async with app.run_test(size=(100, 24)) as pilot:
        await library(pilot)
        await pilot.press("down", "down")
        for text in ("line 2: the lamp broke", "red apple", "seed 7", "step 1 · wrong · ann"):
            await shows(pilot, text)
        await pilot.resize_terminal(99, 24)
        await idle(pilot)
        assert "red apple" not in screen_text(app)


NARROWED = {
    "score>=0.5": ["alpha/record"],
    "score<0.5 script:QUIZ": ["audits/gamma"],
    "author:ann": ["beta/record"],
    "author:ann verdict:right": [],
    "verdict:wrong": ["beta/record"],
    "gam": ["audits/gamma"],
    "look": ["beta/record"],
}


async def test_records_are_narrowed_by_what_they_hold(records: Path) -> None:
    (records / "beta" / "record.yaml").unlink()
    remark = {"at": 0, "author": "Ann", "verdict": "wrong", "text": "look here"}
    put(records, "beta/record.yaml", "1", extras={"feedback": [remark]})
    app = QuizlogApp()
    async with app.run_test(size=(100, 24), notifications=True) as pilot:
        screen = await library(pilot)
        for typed, names in NARROWED.items():
            await ask(pilot, "F", typed)
            await shows(pilot, f"{len(names)} of 4 records: {typed}")
            assert list(listed(screen)) == names
            await press(pilot, "escape")
            assert len(list(listed(screen))) == 4


async def test_a_preview_that_comes_when_the_screen_is_closed_is_not_drawn(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def late(function: Any, *given: Any) -> Any:
        asked.set()
        await closed.wait()
        return function(*given)

    async with QuizlogApp().run_test() as pilot:
        screen = await library(pilot)
        with monkeypatch.context() as patch:
            patch.setattr(asyncio, "to_thread", late)
            worker = screen._look_at_script()
            await asked.wait()
            await screen.query_one("#marked").remove()  # as the end removes one after the other
            closed.set()
            await worker.wait()


HERE = Path("/r")
A = Summary(HERE / "a.yaml", "q.py", "success", 1.0, 5, 5, 1, 7, 30.0)
B = Summary(HERE / "b.yaml", "q.py", "error", 0.5, 2, 9, 3, 7, 10.0)
C = Summary(HERE / "c.yaml", "r.py", "in_progress", None, 3, 3, 1, 7, 20.0)
D = Summary(HERE / "d.yaml", changed=40.0, problem="line 2: seed: must be a whole number")
SUMMARIES = st.builds(
    Summary,
    st.sampled_from("abcdefgh").map(lambda name: HERE / f"{name}.yaml"),
    st.text(max_size=9),
    st.sampled_from(["in_progress", "success", "error"]),
    st.none() | st.floats(0, 1),
    st.integers(0, 99),
    st.integers(0, 99),
    changed=st.floats(0, 1e9),
)


@pytest.mark.parametrize(
    ("order", "names", "backwards"),
    [
        ("name", "abcd", "dcba"),
        ("changed", "dacb", "bcad"),
        ("score", "abcd", "bacd"),
        ("steps", "acbd", "bcad"),
    ],
)
def test_orders_both_ways_with_the_unknown_last(order: str, names: str, backwards: str) -> None:
    def stems(*, turned: bool) -> str:
        return "".join(one.path.stem for one in arranged([C, A, D, B], order, backwards=turned))

    assert (stems(turned=False), stems(turned=True)) == (names, backwards)


@given(st.lists(SUMMARIES), st.sampled_from(ORDERS), st.booleans())
def test_no_order_loses_a_record(found: list[Summary], order: str, backwards: bool) -> None:
    shown = arranged(found, order, backwards=backwards)
    assert sorted(map(repr, shown)) == sorted(map(repr, found))


def key(name: str) -> str:
    return shown(name, {"library.new": "F5"})


def test_every_record_has_exactly_one_status() -> None:
    every = [A, B, C, D]
    parts = [arranged(every, status=status) for status in STATUSES if status]
    assert [len(part) for part in parts] == [1, 1, 1, 1]
    assert arranged(every) == every


def rows(width: int, *found: Summary) -> list[str]:
    grid = library_grid(found, HERE, FrozenClock(), record_layout(found, HERE))
    grid.starts(width)
    return [grid[index].text.rstrip() for index in range(len(grid))]


def test_names_that_differ_in_what_shows_nothing_are_told_apart() -> None:
    names = ["a.yaml", "a\u200c.yaml", "✔.yaml", "✔\ufe0f.yaml"]
    found = [replace(A, path=HERE / name) for name in names]
    shown = [row.split()[0] for row in rows(100, *found)]
    assert shown == ["a.yaml", r"a\u200c.yaml", "✔.yaml", r"✔\ufe0f.yaml"]


def test_seeds_take_the_place_of_a_script_that_is_the_same_in_each_row() -> None:
    one, other = Summary(HERE / "a", "x/q.py", seed=71), Summary(HERE / "b", "q.py", seed=82)
    assert [row[-2:] for row in rows(100, one, other)] == ["71", "82"]


def test_a_row_says_all_that_the_width_allows() -> None:
    assert rows(80, A, B, C, D) == [
        "a.yaml            just now    ✓ finished 1   5                  q.py",
        "b.yaml            just now    ✗ error 0.5    2/9      3         q.py",
        "c.yaml            just now    ● waiting      3                  r.py",
        "d.yaml            just now    ! line 2: seed: must be a whole number",
    ]
    assert rows(56, B) == ["b.yaml            just now    ✗ error 0.5    2/9"]


def test_an_error_stands_in_its_column_or_below_the_row_that_has_no_room_for_it() -> None:
    short = replace(B, error="no lamp")
    long = replace(C, status="error", error="\x1b[1mit is dark\nin\u202e here " + "and cold " * 9)
    grid = library_grid(
        [A, short, long], HERE, FrozenClock(), record_layout([A, short, long], HERE)
    )
    assert list(grid.starts(100)) == [0, 1, 2, 4]
    assert grid[1].text.rstrip().endswith("q.py      no lamp")
    first, below = grid[2].text.split("\n")
    assert first.rstrip().endswith("r.py") and below.startswith("    ✗ it is dark⏎in")
    assert below.endswith("…") and len(below) == 100 and "\u202e" not in below
    assert list(grid.starts(56)) == [0, 1, 3, 5]
    assert "no lamp" in grid.text(1)  # as a search reads it


def test_a_long_path_keeps_what_tells_it_apart() -> None:
    one = Summary(HERE / "a-very-long-folder-name/record.yaml", "q.py", "success", 1.0)
    assert rows(56, one)[0].startswith("…y-long-folder-name/  ")
    assert rows(120, one)[0].startswith("a-very-long-folder-name/record.yaml  ")


def test_the_marked_record_in_words() -> None:
    assert record_line(B, HERE, key) == "b.yaml · script q.py · seed 7 · 9 answers · 3 branches"
    assert record_line(A, HERE, key).endswith("5 answers · 1 branch")
    assert record_line(D, HERE, key).startswith("d.yaml: line 2: seed: must be a whole number")
    assert record_line(None, HERE, key) == ""


def test_an_empty_folder_and_an_empty_filter_say_how_to_go_on() -> None:
    empty = "\n".join(each.text for each in nothing_lines(HERE, "", 0, key))
    assert "No records below /r" in empty and "quizlog new SCRIPT" in empty
    assert "f5  makes a record" in empty
    assert nothing_lines(HERE, "error", 3, key)[0].text == "None of 3 records is error."


def test_foreign_text_is_made_visible() -> None:
    one = Summary(HERE / "\x1b]0;x\x07.yaml", "\x9b31m", "success", 1.0)
    bad = Summary(HERE / "x.yaml", problem="\x1b[2J\u202e")
    text = "".join(rows(120, one, bad))
    assert not set(text) & set("\x1b\x07\x9b\u202e")


def test_a_preview_shows_a_progress_bar_as_it_ended_and_a_link_as_its_text() -> None:
    link = "\x1b]8;;https://example.org\x1b\\a link\x1b]8;;\x1b\\"
    shown = preview_lines(A, Preview(printed=("start", " 10 %\r", " 99 %\r", "done", link)))
    assert shown[-1].text == "start\ndone%\na link"


def test_a_preview_has_no_empty_line_after_a_progress_bar() -> None:
    shown = preview_lines(
        A, Preview(printed=("start", "\r 10 %", "\r 99 %", "", "done", "", "end"))
    )
    assert shown[-1].text == "start\n 99 %\ndone\n\nend"


def test_a_preview_draws_output_as_the_player_does() -> None:
    border = f"┌{'─' * 60}┐"
    printed = (*map(str, range(40)), "\x1b[31mred\x1b[0m", border, f"│{'words ' * 10}│")
    output = preview_lines(A, Preview(printed=printed))[-1]
    assert output.text.split("\n") == [
        *map(str, range(13, 40)),
        "red",
        border,
        f"│{'words ' * 10}│",
    ]
    assert [style for text, style in output.pieces if text.strip() == "red"] == ["sgr 31"]
    assert len(drawn_rows(output, 40)) == 30


def make(path: Path, *inputs: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    RecordFile(path).create(Record("quiz.py", 7, AppendOnlyList(inputs), len(inputs)))
    return path


def filled(folder: Path) -> Shelf:
    shelf, paths, more = Shelf(), find_records(folder), True
    while more:
        found = read_some(paths, set(shelf.stamps))
        shelf.take(found)
        more = found.more
    return shelf


def names(shelf: Shelf) -> list[str]:
    return [one.path.stem for one in shelf.shown]


def test_known_records_are_not_read_again(tmp_path: Path) -> None:
    for name in "abc":
        make(tmp_path / f"{name}.yaml")
    shelf = filled(tmp_path)
    make(tmp_path / "d.yaml")
    found = read_some(find_records(tmp_path), set(shelf.stamps))
    assert [one.path.stem for one in found.summaries] == ["d"]
    assert shelf.take(found) and names(shelf) == ["a", "b", "c", "d"]


def test_only_changed_rows_are_read_and_vanished_ones_go(tmp_path: Path) -> None:
    a, b, c = (make(tmp_path / f"{name}.yaml") for name in "abc")
    shelf = filled(tmp_path)
    assert not any(changes(shelf.stamps).read.summaries)
    os.unlink(a)
    make(b.with_name("new.yaml"), "1", "2").replace(b)
    c.write_text("script: x\nseed: no\n")
    found = changes(shelf.stamps)
    assert [one.path for one in found.read.summaries] == [b, c]
    assert shelf.take(found.read, found.gone)
    assert [(one.path, one.used, bool(one.problem)) for one in shelf.shown] == [
        (b, 2, False),
        (c, 0, True),
    ]
    assert not shelf.take(changes(shelf.stamps).read)


def test_the_order_is_cycled_turned_and_remembered(tmp_path: Path) -> None:
    make(tmp_path / "a.yaml", "1")
    make(tmp_path / "b.yaml", "1", "2")
    shelf = filled(tmp_path)
    for _ in range(3):
        shelf.sort()
    assert (shelf.order, names(shelf)) == ("steps", ["b", "a"])
    shelf.sort("steps")
    assert names(shelf) == ["a", "b"]
    again = Shelf(shelf.sorting)
    assert (again.order, again.backwards) == ("steps", True)
    shelf.sort()
    assert (shelf.order, shelf.backwards) == ("name", False)
    assert Shelf("nonsense").order == "name"


def test_the_filter_goes_through_all_statuses_and_back(tmp_path: Path) -> None:
    make(tmp_path / "a.yaml")
    shelf = filled(tmp_path)
    seen = []
    for _ in range(5):
        shelf.narrow()
        seen.append((shelf.status, len(shelf.shown)))
    assert seen == [("in_progress", 1), ("success", 0), ("error", 0), ("unreadable", 0), ("", 1)]


def test_neighbours_are_the_readable_ones_in_the_order_shown(tmp_path: Path) -> None:
    a, b, c = (make(tmp_path / f"{name}.yaml") for name in "abc")
    b.write_text("script: x\nseed: no\n")
    shelf = filled(tmp_path)
    assert shelf.neighbour(a, 1) == c and shelf.neighbour(c, -1) == a
    assert shelf.neighbour(c, 1) is None and shelf.neighbour(a, -1) is None
    assert shelf.neighbour(tmp_path / "gone.yaml", 1) == a
    shelf.sort("name")
    assert shelf.neighbour(c, 1) == a


def test_without_a_library_the_neighbours_are_beside_the_record(tmp_path: Path) -> None:
    one, two = make(tmp_path / "one/record.yaml"), make(tmp_path / "two/record.yaml")
    third = make(tmp_path / "two/third.yaml")
    (tmp_path / "two/other.json").write_text("{}")
    assert neighbour(one, 1) == two and neighbour(two, 1) == third
    assert neighbour(two, -1) == one and neighbour(one, -1) is None
