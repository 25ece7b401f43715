"""The browser of episodes: what it shows at each size, every key, a file that is read meanwhile."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from quizlog_tui.cli import main
from quizlog_tui.episodes.build.build import BuildSettings
from quizlog_tui.episodes.build.make import make
from quizlog_tui.episodes.format.hashing import to_line
from quizlog_tui.episodes.read import index
from quizlog_tui.episodes.read.files import read_episodes
from quizlog_tui.episodes.read.index import BROKEN, UNVERIFIED, EpisodeFile
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.dialogs import ChooseScreen
from quizlog_tui.tui.screens.episodes import episodes as screens
from quizlog_tui.tui.screens.episodes.episodes import EpisodesScreen
from quizlog_tui.tui.screens.library.library import LibraryScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.episodes.support import episode
from tests.support.build import Build
from tests.support.screens import ask, check, idle, opened, press, settled, shows, sized

ONE = episode(("4", "more", "end"), [("4", "end"), ("4", "end"), ("5", "bad"), ("4", "more", "x")])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Six lines: verified, a blank one, not verified, unreadable, no episode, not verified."""
    lines = [
        to_line(ONE), "", to_line(episode(("4", "end"), [])), "[1", '{"a": 1}',
        to_line(episode(("4", "other"), [("4", "end"), ("4", "end")])),
    ]  # fmt: skip
    path = tmp_path / "e.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def app_of(path: Path) -> QuizlogApp:
    return QuizlogApp(episodes=EpisodeFile(path), clock=FrozenClock())


async def browsing(pilot: Pilot[Any], *keys: str) -> EpisodesScreen:
    screen = await opened(pilot, EpisodesScreen)
    for key in keys:
        await pilot.press(key)
        await idle(pilot)
    return screen


@sized()
async def test_golden_episodes(size: tuple[int, int], file: Path) -> None:
    app = app_of(file)
    async with app.run_test(size=size) as pilot:
        await browsing(pilot)
        check("episodes", size, screen_text(app))
        await browsing(pilot, "enter")
        check("episode", size, screen_text(app))
        await browsing(pilot, "right_square_bracket", "right_square_bracket")
        check("episode-broken", size, screen_text(app))


@sized()
@pytest.mark.parametrize(("keys", "golden"), [("", "episodes"), ("enter", "episode")])
def test_the_shell_draws_the_golden_episodes(
    keys: str, golden: str, size: tuple[int, int], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    words = ["screenshot", str(file), "--screen", "episodes", "--keys", keys]
    assert main([*words, "--size", f"{size[0]}x{size[1]}"]) == 0
    check(golden, size, capsys.readouterr().out)
    assert file.read_bytes() == before


async def test_every_key(file: Path) -> None:
    app = app_of(file)
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        screen = await browsing(pilot)
        await shows(pilot, "5 episodes, 1 verified, 2 unreadable · e.jsonl")
        await browsing(pilot, "left_square_bracket")
        await shows(pilot, "no more episodes that way")
        await browsing(pilot, "l", "right_square_bracket")
        assert screen.has_class("-alone")
        await shows(pilot, "✗ there is no consistency run")
        await browsing(pilot, "h")
        assert not screen.has_class("-alone") and screen.marked == 1
        seen = []
        for _ in range(4):
            await browsing(pilot, "f")
            seen.append((screen._state, len(screen._shown), screen.marked))
        assert seen == [("verified", 1, 0), (UNVERIFIED, 2, 1), (BROKEN, 2, 2), ("", 5, 2)]
        await ask(pilot, "number_sign", "6")
        assert screen.marked == 4
        await ask(pilot, "number_sign", "2")
        assert screen.marked == 1, "line 2 is blank: the next one"
        for wrong, said in (
            ("99", "line 99 is not among those shown"),
            ("x", "is not a line number"),
        ):
            await ask(pilot, "number_sign", wrong)
            await shows(pilot, said)
        await browsing(pilot, "slash", *"more", "enter")
        await browsing(pilot, "escape", "enter", "escape")
        assert not screen.has_class("-alone")
        await pilot.press("q")
        while app.is_running:
            await pilot.pause()


async def test_a_search_looks_through_the_questions_and_states(file: Path) -> None:
    app = app_of(file)
    async with app.run_test() as pilot:
        screen = await browsing(pilot, "slash", *"unread", "enter", "ampersand")
        assert screen.marked == 2
        await browsing(pilot, "j")
        assert screen.marked == 3
        await browsing(pilot, "escape")
        assert isinstance(app.screen, EpisodesScreen) and len(screen._list.document) == 5


async def test_one_can_look_while_it_is_read_and_stop_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, read_some = threading.Event(), EpisodeFile.read_some

    def slowly(self: EpisodeFile) -> bool:
        if len(self):
            go_on.wait(60)
        return read_some(self)

    monkeypatch.setattr(EpisodeFile, "read_some", slowly)
    monkeypatch.setattr(index, "_SLICE", -1.0)
    app = app_of(file)
    async with app.run_test(size=(100, 24)) as pilot:
        await shows(pilot, "1 episode, 1 verified · reading, ")
        await shows(pilot, "Escape stops")
        screen = app.screen
        assert isinstance(screen, EpisodesScreen) and screen.marked == 0
        await pilot.press("escape")
        await shows(pilot, "stopped; R reads the rest")
        go_on.set()
        await browsing(pilot, "R")
        await shows(pilot, "5 episodes, 1 verified, 2 unreadable · e.jsonl")
        assert screen.marked == 0


async def test_reading_again_shows_what_is_new(file: Path) -> None:
    app = app_of(file)
    async with app.run_test(notifications=True) as pilot:
        screen = await browsing(pilot, "G")
        file.write_text(f"{to_line(ONE)}\n")
        await browsing(pilot, "R")
        await shows(pilot, "1 episode, 1 verified · e.jsonl")
        assert screen.marked == 0
        await shows(pilot, "✓ 2 of the 3 that answered agree")
        file.write_text("")
        await browsing(pilot, "R")
        await shows(pilot, "There are no episodes in this file.")
        await browsing(pilot, "enter", "f")
        file.unlink()
        await browsing(pilot, "R")
        await shows(pilot, "there is no such file")


async def test_a_long_line_is_read_when_it_is_chosen(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screens, "LONG", 2000)
    app = app_of(file)
    async with app.run_test(size=(80, 40)) as pilot:
        await browsing(pilot)
        await shows(pilot, "This line holds 0.0 MB.")
        await browsing(pilot, "l")
        await shows(pilot, "✓ verified")


async def test_the_library_opens_it(
    file: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.record("input('a? ')", "1")
    monkeypatch.chdir(file.parent)
    app = QuizlogApp(clock=FrozenClock())
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await opened(pilot, LibraryScreen)
        await shows(pilot, "record.yaml")
        await pilot.press("E")
        await opened(pilot, ChooseScreen)
        await shows(pilot, "e.jsonl")
        await pilot.press("enter")
        await opened(pilot, EpisodesScreen)
        await shows(pilot, "5 episodes")
        await pilot.press("q")
        await opened(pilot, LibraryScreen)
        file.unlink()
        await ask(pilot, "E", "no.jsonl")
        await shows(pilot, "there is no such file")


QUIZ = """
n = input("2+2? ")
if n != "4":
    raise Exception("wrong")
input("name? ")
"""


async def test_the_player_puts_the_branch_shown_into_a_file(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(build.folder)
    record, out = build.record(QUIZ, "4", "ada"), build.folder / "o.jsonl"
    with Session(record) as session:
        session.fork(1, "bea", "other")
    app = QuizlogApp(record)
    async with app.run_test(size=(110, 30)) as pilot:
        player = await settled(pilot)
        said: list[str] = []
        monkeypatch.setattr(player, "notify", lambda text, **_: said.append(text))
        await press(pilot, "escape")

        async def put(file: str) -> str:
            await ask(pilot, "E", file)
            while not said:
                await pilot.pause()
            return said.pop()

        alone = "not verified: no consistency run"
        assert await put("o.jsonl") == f"other is in o.jsonl; {alone}"
        player.session.switch("main")
        assert await put("o.jsonl") == f"main is in o.jsonl; {alone}"
        twin = build.folder / "twin.yaml"
        made = replace(RecordFile(record).read(), extras={"start_time": "2026-01-01"})
        RecordFile(twin).create(made)
        make([record, twin], build.folder / "v.jsonl", BuildSettings(), lambda *told: None)
        assert await put("v.jsonl") == (
            "main is in v.jsonl; still verified by earlier runs "
            "(the present runs do not verify it: no consistency run)"
        )
        assert "cannot write" in await put("quiz.py/x.jsonl")
        await ask(pilot, "E", "")
        await settled(pilot)
    found = [one["rl_verification_data"]["expected_final_answer"] for one in read_episodes(out)]
    assert found == ["bea", "ada"]
    by_shell = build.folder / "s.jsonl"
    for branch in ("other", "main"):
        words = ["episodes", "build", str(record), "-o", str(by_shell), "--branch", branch]
        assert main(words) == 0
    assert by_shell.read_bytes() == out.read_bytes()


def test_the_shell_says_what_is_wrong(
    tmp_path: Path, file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for words, said in (
        (["tui", str(tmp_path / "no.jsonl")], "there is no such file"),
        (["episodes", "browse", str(tmp_path)], "is not a file"),
        (["episodes", "browse", str(file)], "the screens need a terminal"),
        (["episodes", "browse", str(file), "--json"], "browse has no JSON output"),
    ):
        assert main(words) == 2
        assert said in capfd.readouterr()[1]
    assert json.loads(file.read_text().splitlines()[0])["verified"]
