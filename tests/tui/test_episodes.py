"""The browser of episodes: what it shows at each size, every key, a file that is read meanwhile.

An episode in full, its graph of hooks and the rows of a file are tested as they are drawn.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from quizlog_tui.cli import main
from quizlog_tui.episodes.build.build import BuildSettings
from quizlog_tui.episodes.build.make import make
from quizlog_tui.episodes.format.hashing import to_line
from quizlog_tui.episodes.read import index
from quizlog_tui.episodes.read.facts import facts
from quizlog_tui.episodes.read.files import read_episodes
from quizlog_tui.episodes.read.index import BROKEN, UNVERIFIED, EpisodeFile
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens import episodes as screens
from quizlog_tui.tui.screens.dialogs import ChooseScreen
from quizlog_tui.tui.screens.episodes import (
    MOST,
    WIDEST,
    EpisodesScreen,
    clipped,
    episode_lines,
    hook_graph,
)
from quizlog_tui.tui.screens.library import LibraryScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.episodes.support import ONE, episode
from tests.support.build import Build
from tests.support.screens import SIZE, ask, check, idle, opened, press, settled, shows

RUNS = episode(("4", "more", "end"), [("4", "end"), ("4", "end"), ("5", "bad"), ("4", "more", "x")])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Six lines: verified, a blank one, not verified, unreadable, no episode, not verified."""
    lines = [
        to_line(RUNS), "", to_line(episode(("4", "end"), [])), "[1", '{"a": 1}',
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


async def test_golden_episodes(file: Path) -> None:
    app = app_of(file)
    async with app.run_test(size=SIZE) as pilot:
        await browsing(pilot)
        check("episodes", SIZE, screen_text(app))
        await browsing(pilot, "enter")
        check("episode", SIZE, screen_text(app))
        await browsing(pilot, "right_square_bracket", "right_square_bracket")
        check("episode-broken", SIZE, screen_text(app))


@pytest.mark.parametrize(("keys", "golden"), [("", "episodes"), ("enter", "episode")])
def test_the_shell_draws_the_golden_episodes(
    keys: str, golden: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    words = ["screenshot", str(file), "--screen", "episodes", "--keys", keys]
    assert main([*words, "--size", f"{SIZE[0]}x{SIZE[1]}"]) == 0
    check(golden, SIZE, capsys.readouterr().out)
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
        assert isinstance(app.screen, EpisodesScreen) and len(screen.rows.document) == 5


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
        file.write_text(f"{to_line(RUNS)}\n")
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
    monkeypatch.setattr(screens, "_LONG", 2000)
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


CHAIN = (("a", ()), ("b", ("a",)), ("c", ("b",)))
CASES = {
    "a chain": (CHAIN, ["○", "●", "●"]),
    "two that meet": (
        (("a", ()), ("b", ()), ("c", ("a", "b")), ("d", ("c",))),
        ["○", "│ ○", "●─╯", "●"],
    ),
    "one that many need": (
        (("a", ()), ("b", ("a",)), ("c", ("a",)), ("d", ("a", "b")), ("e", ("c", "d")), ("f", "a")),
        ["○", "├─●", "├─┼─●", "├─● │", "│ ●─╯", "●"],
    ),
    "a line that is crossed": (
        (("a", ()), ("b", ()), ("c", ()), ("d", ("a", "c")), ("e", ("b",))),
        ["○", "│ ○", "│ │ ○", "●─┼─╯", "  ●"],
    ),
    "nothing in common": ((("a", ()), ("b", ()), ("c", ())), ["○", "○", "○"]),
    "what is not there": ((("a", ("ghost", "a")), ("a", ("a",))), ["○", "●"]),
    "none": ((), []),
}


@pytest.mark.parametrize("case", CASES)
def test_the_graph_of_hooks(case: str) -> None:
    hooks, expected = CASES[case]
    assert [row.rstrip() for row in hook_graph(hooks)] == expected


names = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(names, st.lists(names, max_size=4)), max_size=40))
def test_any_graph_can_be_drawn(hooks: Sequence[tuple[str, Sequence[str]]]) -> None:
    drawn = hook_graph(hooks)
    assert len(drawn) == len(hooks) and len({len(row) for row in drawn}) <= 1
    seen: set[str] = set()
    for row, (name, depends_on) in zip(drawn, hooks, strict=True):
        sign = "●" if seen & set(depends_on) else "○"
        assert row.count(sign) == 1 and row.count("●") + row.count("○") == 1
        seen.add(name)


def test_a_graph_that_is_too_wide_is_not_drawn() -> None:
    many = [(str(n), ()) for n in range(WIDEST + 1)]
    last = ("last", [name for name, _ in many])
    assert hook_graph([*many, last]) == [""] * (WIDEST + 2)
    assert hook_graph([(str(n), ()) for n in range(10_000)])[-1] != ""


def drawn(one: dict[str, object]) -> str:
    return "\n".join(item.text for item in episode_lines(facts(one)))


def test_an_episode_in_full() -> None:
    text = drawn(ONE)
    for said in (
        "✓ verified", "✓ 2 of the 3 that answered agree: more than half",
        '★ folder/record.yaml  "end"', '= ada #1  "end"  parts at step 1',
        "≠ ada #3  no answer ✗ not finished, score 0.5  parts at step 0",
        "   0 4  3 of 4 the same", "     ≠ 5  ada #3", "● again = more", "Welcome",
    ):  # fmt: skip
        assert said in text, said
    assert "!" not in text


def test_what_speaks_against_it_and_what_does_not_fit() -> None:
    alone = episode(("4", "end"), [])
    assert "✗ not verified\n  ✓ the script finishes" in drawn(alone)
    assert "✗ there is no consistency run" in drawn(alone)
    assert "! the line says that it is verified, but" in drawn(alone | {"verified": True})
    assert "! the line says that it is not verified, but" in drawn(ONE | {"verified": False})


def test_the_hint_is_told_as_the_teachers() -> None:
    told = ONE | {"question": ONE["question"] | {"hint": "add"}}
    assert "hint, shown only to the teacher: add" in drawn(told)


def test_the_conversation_is_drawn_as_on_a_terminal() -> None:
    said = {"role": "user", "content": "\x1b[31mred\x1b[0m then\n10%\r50%"}
    lines = episode_lines(facts(ONE | {"conversation_for_sft": {"messages": [said]}}))
    assert lines[-1].text == "user red then\n50%"
    assert ("red", "sgr 31") in lines[-1].pieces


def test_an_empty_object_says_what_it_lacks() -> None:
    text = drawn({})
    assert "✗ not verified" in text and "not given" in text and "none" in text


def test_long_texts_are_clipped() -> None:
    assert clipped("x" * MOST) == "x" * MOST
    assert clipped("x" * (MOST + 1234)) == "x" * MOST + "… (1,234 more)"
    one = episode(("4", "e" * 10**6), [("4", "end")])
    assert len(drawn(one)) < 20 * MOST
