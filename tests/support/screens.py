"""Driving the screens in tests: wait for states, press keys, compare with golden text."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from quizlog_tui.config import Config
from quizlog_tui.tui import picture
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.base import QuizlogScreen
from quizlog_tui.tui.screens.dialogs import AskScreen, ChooseScreen
from quizlog_tui.tui.screenshot import screen_text

GOLDEN = Path(__file__).parent.parent / "golden"
Kind = TypeVar("Kind", bound=Screen[Any])
SIZE = (80, 24)
"""The size of a golden screen that is the same screen at every size."""
SIZES = [(60, 20), (120, 40)]
"""On both sides of what the layouts of screens turn on."""


def sized() -> pytest.MarkDecorator:
    """A test in a narrow and in a wide terminal, for screens with a layout for each."""
    return pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def patiently() -> Iterator[None]:
    """Rounds of looking for what is awaited, up to when it clearly will not come."""
    deadline = time.monotonic() + 60  # machines may be busy
    while time.monotonic() < deadline:
        yield


async def idle(pilot: Pilot[Any]) -> None:
    """Wait until nothing is under way that does not wait for the user."""
    await picture.idle(pilot, _goes_on)


def _goes_on(screen: Screen[Any]) -> bool:
    """Whether work is under way that the last answer to a dialog began."""
    return isinstance(screen, QuizlogScreen) and (screen.slow_work.running or not screen.ready)


async def found(pilot: Pilot[Any], words: str) -> None:
    """Wait until the palette has searched for all that was typed, and shows something.

    It shows what it found for the first letters meanwhile, in another order.
    """
    palette = pilot.app.screen
    for _ in patiently():
        if all(worker.is_finished for worker in pilot.app.workers if worker.node is palette):
            break
        await pilot.pause()
    await shows(pilot, words)


async def settled(pilot: Pilot[Any]) -> PlayerScreen:
    """Wait until the player is there and nothing is under way; the screen."""
    for _ in patiently():
        screen = pilot.app.screen
        await idle(pilot)  # if it was there before, it is now mounted and painted
        if screen is pilot.app.screen and isinstance(screen, PlayerScreen):
            return screen
    raise AssertionError(f"the player never came:\n{screen_text(pilot.app)}")


@asynccontextmanager
async def playing(
    record: Path,
    config: Config | None = None,
    *,
    size: tuple[int, int] = SIZE,
    notifications: bool = False,
    **given: Any,
) -> AsyncIterator[Pilot[Any]]:
    """A record in the player, which is settled.

    Args:
        record: The record.
        config: The user's settings.
        size: Columns and rows.
        notifications: Whether toasts are shown.
        given: What else the app gets.
    """
    app = QuizlogApp(record, config, **given)
    async with app.run_test(size=size, notifications=notifications) as pilot:
        await settled(pilot)
        yield pilot


async def press(pilot: Pilot[Any], *keys: str) -> PlayerScreen:
    """Press keys in the player, and wait until it is settled again."""
    await pilot.press(*keys)
    await idle(pilot)
    return await settled(pilot)


async def asking(pilot: Pilot[Any]) -> AskScreen:
    """Wait until a line of text is asked for; the dialog."""
    for _ in patiently():
        screen = pilot.app.screen
        if isinstance(screen, AskScreen) and isinstance(pilot.app.focused, Input):
            return screen
        await pilot.pause()
    raise AssertionError(f"nothing is asked:\n{screen_text(pilot.app)}")


async def ask(pilot: Pilot[Any], key: str, *answers: str) -> None:
    """Press a key and answer the questions it asks, each in place of what stands there."""
    await pilot.press(key)
    for answer in answers:
        await give(pilot, answer)


async def give(pilot: Pilot[Any], answer: str) -> None:
    """Answer the question that a dialog asks, in place of what stands there."""
    screen = await asking(pilot)
    screen.query_one(Input).value = answer
    await pilot.press("enter")
    while pilot.app.screen is screen:
        await pilot.pause()


async def compare_with(pilot: Pilot[Any], record: str) -> None:
    """In the player or a comparison, name another record to compare with."""
    await pilot.press("c")
    await opened(pilot, ChooseScreen)
    await pilot.press("G", "enter")
    await give(pilot, record)


async def shows(pilot: Pilot[Any], words: str) -> None:
    """Wait until the words stand on the screen, or in a toast, wherever that breaks its lines."""
    for _ in patiently():
        texts = [screen_text(pilot.app), *(note.message for note in pilot.app._notifications)]
        if any(words in " ".join(text.split()) for text in texts):
            return
        await pilot.pause()
    raise AssertionError(f"{words!r} never shown:\n{screen_text(pilot.app)}")


def check(name: str, size: tuple[int, int], text: str) -> None:
    """Compare with the golden text; UPDATE_GOLDEN=1 writes it."""
    path = GOLDEN / f"{name}-{size[0]}x{size[1]}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    golden = path.read_text(encoding="utf-8")
    differing = difflib.unified_diff(golden.splitlines(), text.splitlines(), "golden", "shown")
    assert text == golden, "\n".join(differing)


async def opened(pilot: Pilot[Any], kind: type[Kind]) -> Kind:
    """Wait until a screen of a kind is on top and nothing is under way; the screen."""
    for _ in patiently():
        await idle(pilot)
        if isinstance(pilot.app.screen, kind):
            return pilot.app.screen
    raise AssertionError(f"no {kind.__name__} was opened:\n{screen_text(pilot.app)}")
