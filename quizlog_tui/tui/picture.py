"""Pictures of a record's screen without a terminal: at any step and size, always alike.

The clock stands still, nothing moves, and the record is never written, whatever keys are pressed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.worker import Worker

from ..config import Config
from ..errors import UsageError
from ..files.scratch import scratch_folder
from ..session.session import Session
from .app import QuizlogApp
from .clock import FrozenClock
from .screens.base import DIALOG, QuizlogScreen
from .screens.player.player import PlayerScreen
from .screenshot import screen_svg, screen_text
from .state import State
from .themes.theming import DEFAULT


@dataclass(frozen=True)
class Picture:
    """What the screen shows."""

    text: str
    """Rows of plain text, trailing spaces cut."""
    svg: str
    """The same with colours, as SVG."""


def picture(
    record: str | Path,
    step: int | None = None,
    *,
    size: tuple[int, int] = (80, 24),
    theme: str = DEFAULT,
    keys: Sequence[str] = (),
) -> Picture:
    """The player on a record.

    Args:
        record: The record file; it is not written.
        step: The step to look at; the pointer if None.
        size: Columns and rows.
        theme: Name of a theme.
        keys: Keys to press first, by Textual's names.

    Raises:
        QuizlogError: The record cannot be opened, or there is no such step or theme.
    """
    with scratch_folder("picture") as folder:
        state = State(folder / "state.json")
        with Session(record, save=False, recorded=True) as session:
            app = QuizlogApp(
                config=Config(theme=theme), clock=FrozenClock(), state=state, session=session
            )
            if theme not in app.available_themes:
                raise UsageError(f"there is no theme {theme!r}", hint="see `quizlog config show`")
            return _in_thread(_taken(app, step, size, keys))


async def _taken(
    app: QuizlogApp, step: int | None, size: tuple[int, int], keys: Sequence[str]
) -> Picture:
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        if step is not None:
            _look(app, step)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)
        await settled(pilot)
        return Picture(screen_text(app), screen_svg(app))


def _look(app: QuizlogApp, step: int) -> None:
    player = app.screen
    assert isinstance(player, PlayerScreen)
    length = len(player.session.inputs)
    if not 0 <= step <= length:
        hint = f"choose a step from 0 to {length}"
        raise UsageError(f"there is no step {step}", hint=hint)
    player.navigation.go(step)


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until a screen of ours is there and nothing is under way.

    Raises:
        Exception: The defect that the program shows an error panel for.
    """
    app = pilot.app
    while True:
        if isinstance(app, QuizlogApp) and app.faults:
            raise app.faults[0]
        seen = app.screen
        await pilot.pause()  # a screen that was there before is mounted and painted after it
        while busy(app) or _works(app.screen):
            if busy(app):  # of no workers, Textual would wait for all
                await app.workers.wait_for_complete(busy(app))
            await pilot.pause()
        if seen is app.screen and (isinstance(seen, QuizlogScreen) or seen.is_modal):
            return


def _works(screen: Screen[Any]) -> bool:
    """Whether something is being done before the user is asked again."""
    return isinstance(screen, QuizlogScreen) and screen.slow_work.running


def busy(app: App[Any]) -> list[Worker[Any]]:
    """The workers that do not wait for the user."""
    return [worker for worker in app.workers if worker.group != DIALOG]


def _in_thread(work: Any) -> Picture:
    """Run a coroutine to its end, also where the caller is in an event loop of its own."""
    found: list[Picture] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(asyncio.run(work))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]
