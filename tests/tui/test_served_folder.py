"""Screens of a served folder in audit mode: no file outside it is read, whatever one types."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import TextArea

from quizlog_tui.config import ConfigProblem
from quizlog_tui.errors import ReadOnlyError
from quizlog_tui.files.paths import user_folder
from quizlog_tui.session.audit import Audit, check_reading, may_read, readable_path
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp, _state_of_tab
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.library import LibraryScreen
from quizlog_tui.tui.screens.sweep import SweepScreen
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.state import State
from tests.support.build import Build
from tests.support.player_quizzes import QUIZ
from tests.support.screens import (
    ask,
    compare_with,
    idle,
    opened,
    patiently,
    playing,
    settled,
    shows,
)


class Served:
    """A served folder with a record, and files beside the folder."""

    def __init__(self, build: Build) -> None:
        self.folder = build.folder / "served"
        self.folder.mkdir()
        self.record = Build(self.folder, build.dedent).record(QUIZ, "Ada")
        self.outside = build.record(QUIZ, "secret")
        self.audit = Audit("--read-only", folder=self.folder.resolve())

    def link(self, name: str, target: Path) -> Path:
        path = self.folder / name
        path.symlink_to(target)
        return path


@pytest.fixture
def served(build: Build) -> Served:
    return Served(build)


def test_only_the_served_folder_is_read_and_links_are_followed(served: Served) -> None:
    audit, folder = served.audit, served.folder
    assert may_read(audit, served.record) and may_read(audit, folder / "gone")
    assert may_read(audit, served.link("in.yaml", served.record))
    link = served.link("out.yaml", served.outside)
    beside = folder.with_name(f"{folder.name}2") / "x"
    for path in (
        served.outside,
        link,
        folder / ".." / "x",
        beside,
        Path("a\0b"),
        Path("/dev/fd/0"),
    ):
        assert not may_read(audit, path)
        with pytest.raises(ReadOnlyError, match="is not served"):
            check_reading(audit, path)
    assert may_read(Audit("--read-only"), served.outside) and may_read(None, served.outside)


def test_a_typed_path_stands_for_nothing_else(served: Served) -> None:
    for typed in ("~", "~/x", "~root/x"):
        with pytest.raises(ReadOnlyError) as caught:
            readable_path(served.audit, typed)
        assert caught.value.where == typed
    assert readable_path(served.audit, str(served.record)) == served.record
    for anywhere in (None, Audit("--read-only")):
        assert readable_path(anywhere, "~/x") == Path.home() / "x"


def test_a_record_outside_is_not_opened_and_a_script_outside_is_not_read(served: Served) -> None:
    with pytest.raises(ReadOnlyError):
        Session(served.link("out.yaml", served.outside), audit=served.audit)
    text = served.record.read_text().replace("quiz.py", "../quiz.py")
    served.record.write_text(text)
    with Session(served.record, audit=served.audit, recorded=True) as session:
        assert session.missing and "not in the served folder" in session.missing.message


async def test_the_library_lists_no_record_outside(served: Served) -> None:
    served.link("out.yaml", served.outside)
    app = QuizlogApp(served.folder, audit=served.audit)
    async with app.run_test() as pilot:
        for _ in patiently():
            await idle(pilot)
            screen = app.screen
            if isinstance(screen, LibraryScreen) and not screen.scanning:
                break
        assert [one.path for one in screen.shelf.shown] == [served.record]


async def test_an_empty_served_folder_shows_no_examples(tmp_path: Path) -> None:
    app = QuizlogApp(tmp_path, audit=Audit("--read-only", folder=tmp_path.resolve()))
    async with app.run_test() as pilot:
        await shows(pilot, "0 records")


async def test_a_comparison_refuses_another_record_outside(served: Served) -> None:
    app = QuizlogApp(served.record, audit=served.audit)
    async with app.run_test(size=(160, 24), notifications=True) as pilot:
        for name in (str(served.outside), "/gone", str(served.folder.parent), "~/x", "arithmetic"):
            await settled(pilot)
            app.clear_notifications()
            await compare_with(pilot, name)
            await shows(pilot, f"{name}: is not served")
    assert not (user_folder("data") / "records").exists()  # no example was copied there


async def test_a_sweep_refuses_a_file_of_answers_outside(served: Served) -> None:
    async with playing(served.record, audit=served.audit, notifications=True) as pilot:
        await pilot.press("s")
        screen = await opened(pilot, SweepScreen)
        for typed in (str(served.outside), "~/x"):
            screen.query_one(TextArea).text = f"@{typed}"
            await pilot.press("f5")
            await shows(pilot, f"{typed[-3:]}: is not served")
            assert not screen._tried
            pilot.app.clear_notifications()


async def test_the_library_refuses_a_file_of_episodes_outside(served: Served) -> None:
    path = served.folder.parent / "episodes.jsonl"
    path.write_text('{"secret": 1}\n')
    link = served.link("linked.jsonl", path)
    app = QuizlogApp(served.folder, audit=served.audit)
    async with app.run_test(size=(160, 24), notifications=True) as pilot:
        await shows(pilot, "1 record")
        for wanted in (str(path), str(link), "~/x"):
            await ask(pilot, "E", wanted)
            await shows(pilot, f"{wanted[-6:]}: is not served")
            app.clear_notifications()


def test_what_a_tab_remembers_ends_with_it(tmp_path: Path) -> None:
    State().theme = "quizlog-paper"
    with _state_of_tab() as state:
        assert state.theme == "quizlog-paper"
        state.theme = "quizlog-dark"
        state.remember(tmp_path / "record.yaml", 1, 1)
        folder = state._path.parent
        assert State(state._path).last
    assert not folder.exists()
    assert (State().theme, State().last) == ("quizlog-paper", "")


async def test_what_is_wrong_in_the_settings_is_not_told_to_a_browser(served: Served) -> None:
    problem = ConfigProblem(f"{Path.home()}/.config/quizlog/config.toml", "is wrong")
    for audit, told in ((served.audit, False), (None, True)):
        app = QuizlogApp(served.record, problems=[problem], audit=audit)
        async with app.run_test(size=(120, 30), notifications=True) as pilot:
            await opened(pilot, PlayerScreen)
            await settled(pilot)
            assert ("config.toml: is wrong" in screen_text(app)) is told


@pytest.mark.parametrize("key", ["V", "U"])
async def test_nobody_is_asked_for_an_expression_which_is_code(key: str, served: Served) -> None:
    assert not Audit("--read-only").refuses("expressions")
    async with playing(served.record, audit=served.audit, notifications=True) as pilot:
        screen = await settled(pilot)
        await pilot.press("escape", key)
        await shows(pilot, "locked; this would write: whatever an expression does")
        await idle(pilot)
        assert pilot.app.screen is screen
        assert screen.key("player.watch") == screen.key("player.until") == ""
