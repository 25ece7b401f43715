"""A report written from the screens: what is private in it is listed before, and taken out."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Checkbox

from quizlog_tui.session.session import Session
from quizlog_tui.tui.picture import picture
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.dialogs import PrivateScreen
from tests.support.build import Build
from tests.support.long_runs import few_rows
from tests.support.screens import asking, opened, playing, press, settled, shows

TOKEN = "sk-abcdefghijklmnop1234"  # a made-up one


@pytest.fixture
def record(build: Build, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(build.folder)
    path = build.record("import os\nprint(os.path.abspath('x'))\ninput('? ')\n", "a")
    with Session(path) as session:
        session.comment(0, f"seen in /home/eve/x with {TOKEN}", author="Eve")
    return path


@pytest.mark.parametrize(("row", "ending"), few_rows([(2, "html"), (3, "html"), (4, "md")]))
async def test_what_is_private_is_listed_and_taken_out(row: int, ending: str, record: Path) -> None:
    target = record.parent / f"{record.parent.name}.{ending}"
    async with playing(record, size=(110, 34)) as pilot:
        await press(pilot, "escape")
        for keys in ((), ("space",)):
            await pilot.press("x", *["j"] * row, "enter")
            screen = await opened(pilot, PrivateScreen)
            await shows(pilot, "a folder of this machine, /home/eve: branch main, step 0")
            await shows(pilot, "what looks like a secret, sk-a…: branch main, step 0")
            assert screen.query_one(Checkbox).value and not target.exists()
            await pilot.press(*keys, "enter")
            await asking(pilot)
            assert not target.exists()
            await pilot.press("enter")
            await settled(pilot)
            text = target.read_text()
            left_in = bool(keys)
            found = (TOKEN in text, "/home/eve" in text, str(record.parent) in text)
            assert found == (left_in,) * 3
            target.unlink()


def test_a_picture_waits_for_the_list(record: Path) -> None:
    shown = picture(record, size=(110, 34), keys=("escape", "x", "j", "j", "enter"))
    assert "what looks like a secret, sk-a…" in shown.text


async def test_one_goes_back_from_the_list_and_nothing_is_written(record: Path) -> None:
    before = sorted(record.parent.iterdir())
    async with playing(record, size=(110, 34)) as pilot:
        await press(pilot, "escape")
        await pilot.press("x", "j", "j", "enter")
        await opened(pilot, PrivateScreen)
        await pilot.press("escape")
        await opened(pilot, PlayerScreen)
    assert sorted(record.parent.iterdir()) == before


async def test_nothing_is_asked_where_nothing_is_private(build: Build) -> None:
    record = build.record("input('? ')\n", "a")
    async with playing(record, size=(110, 34)) as pilot:
        await press(pilot, "escape")
        await pilot.press("x", "j", "j", "enter")
        await asking(pilot)
