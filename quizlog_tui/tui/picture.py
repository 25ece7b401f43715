"""Makes reproducible pictures of the screens without a terminal, at any step and size.

The clock stands still, animations are off, and no key press writes the record.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen
from textual.worker import Worker, WorkerCancelled

from ..config import Config
from ..errors import UsageError, did_you_mean
from ..files.scratch import scratch_folder
from ..session.session import Session
from .app import QuizlogApp
from .clock import FrozenClock
from .idle import until_idle
from .keys.keymap import character, check_key, named
from .player.player import PlayerScreen
from .screen_names import SCREENS
from .screens.base import DIALOG, QuizlogScreen
from .screenshot import screen_svg, screen_text
from .state import State
from .themes.theming import DEFAULT

T = TypeVar("T")


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
    screen: str = "player",
) -> Picture:
    """Draw a screen for a record, a folder of records or a file of episodes.

    Args:
        record: The record file, which is not written; a folder for the library, or a file of
            episodes for their screen.
        step: The step to look at; the pointer if None.
        size: Columns and rows.
        theme: Name of a theme.
        keys: Keys to press first, by Textual's names or as people write them.
        screen: One of `SCREENS`.

    Raises:
        QuizlogError: The record cannot be opened, or there is no such step, theme or key.
    """
    names = [check_key(key) for key in keys]
    with still_app(Path(record), screen, theme) as app:
        return run_in_thread(_take_picture(app, step, size, (*SCREENS[screen], *names)))


@contextmanager
def still_app(record: Path, screen: str, theme: str = DEFAULT) -> Iterator[QuizlogApp]:
    """The app with a frozen clock; it does not change the record."""
    with ExitStack() as stack:
        state = State(stack.enter_context(scratch_folder("picture")) / "state.json")
        app = partial(QuizlogApp, config=Config(theme=theme), clock=FrozenClock(), state=state)
        if screen == "library":
            made = app(_folder(record))
        elif screen == "episodes":
            from ..episodes.read.index import EpisodeFile

            made = app(episodes=stack.enter_context(closing(EpisodeFile(record))))
        else:
            made = app(session=stack.enter_context(Session(record, save=False, recorded=True)))
        if theme not in made.available_themes:
            near = did_you_mean(theme, made.available_themes)
            hint = f"{near} `quizlog config show` lists them".lstrip()
            raise UsageError(f"there is no theme {theme!r}", hint=hint)
        yield made


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise UsageError("is not a folder", where=str(path), hint="the library shows a folder")
    return path


async def _take_picture(
    app: QuizlogApp, step: int | None, size: tuple[int, int], keys: Sequence[str]
) -> Picture:
    async with running(app, size) as press:
        if step is not None:
            _look(app, step)
            await press()
        for key in keys:
            await press(key)
        return Picture(screen_text(app), screen_svg(app))


@asynccontextmanager
async def running(
    app: QuizlogApp, size: tuple[int, int]
) -> AsyncIterator[Callable[..., Awaitable[None]]]:
    """Run the program without a terminal; what presses keys and waits for all they lead to.

    Args:
        app: The program.
        size: Columns and rows.
    """
    async with app.run_test(size=size, notifications=True) as pilot:

        async def press(*keys: str) -> None:
            for name in map(named, keys):
                app.post_message(events.Key(name, character(name)))
                await until_idle(app)
            await _settled(pilot)

        await press()
        if isinstance(app.screen, ModalScreen):  # a question to the user, at the start
            await press("escape")
        yield press


def _look(app: QuizlogApp, step: int) -> None:
    player = app.screen
    if not isinstance(player, PlayerScreen):
        raise UsageError("only the player shows a step", hint="leave out K")
    length = len(player.session.record.inputs)
    if not 0 <= step <= length:
        hint = f"choose a step from 0 to {length}"
        raise UsageError(f"there is no step {step}", hint=hint)
    player.panes.look_at(step)


async def _settled(pilot: Pilot[Any]) -> None:
    """Wait until one of our screens is open and nothing is running.

    Raises:
        Exception: The defect that the program shows an error panel for.
    """
    app = pilot.app
    while True:
        if isinstance(app, QuizlogApp) and app.faults:
            raise app.faults[0]
        seen = app.screen
        await idle(pilot, _works)
        if seen is app.screen and (isinstance(seen, QuizlogScreen) or seen.is_modal):
            return


async def idle(pilot: Pilot[Any], goes_on: Callable[[Screen[Any]], bool]) -> None:
    """Wait until no worker is running except those that wait for the user.

    Args:
        pilot: The app's pilot.
        goes_on: Whether something else is running on a screen.
    """
    app = pilot.app
    await until_idle(app)  # a screen that was there before is mounted and painted after it
    while (under_way := _busy(app)) or goes_on(app.screen):
        if under_way:  # of no workers, Textual would wait for all
            with suppress(WorkerCancelled):  # by the screen it was for, which is gone
                await app.workers.wait_for_complete(under_way)
        await until_idle(app)


def _works(screen: Screen[Any]) -> bool:
    """Whether the screen is working."""
    return isinstance(screen, QuizlogScreen) and screen.slow_work.running


def _busy(app: App[Any]) -> list[Worker[Any]]:
    """The workers that do not wait for the user."""
    return [worker for worker in app.workers if worker.group != DIALOG]


def run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, even if the caller has a running event loop."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()
