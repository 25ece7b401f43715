"""Makes reproducible pictures and films of the screens without a terminal, at any step and size.

The clock stands still, animations are off, and no key press writes the record. Textual takes a
program for idle that used hardly any processor time for 20 ms: a wait of 20 ms at least, and wrong
where others keep the machine busy. Here it is seen (`until_idle`): no task of the event loop has
anything left to do, and nothing is yet to be painted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

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
from .keys.actions import SCREENS
from .keys.keymap import character, check_key, named
from .player.player import PlayerScreen
from .screens.base import DIALOG, QuizlogScreen
from .screenshot import Film, Frame, screen_svg, screen_text, take_frame
from .state import State
from .theming import DEFAULT

T = TypeVar("T")
_SECONDS = 1.0
"""Default seconds for which a screen is shown."""
_MOMENT = 0.001
"""Seconds that threads get to hand over what they have made."""


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
    with _still_app(Path(record), screen, theme) as app:
        return _run_in_thread(_take_picture(app, step, size, (*SCREENS[screen], *names)))


class KeyPress(NamedTuple):
    """A key, and the seconds for which its result is shown."""

    key: str
    seconds: float = _SECONDS


def film(
    record: Path,
    presses: Sequence[KeyPress] | None,
    *,
    size: tuple[int, int] = (100, 30),
    theme: str = DEFAULT,
) -> Film:
    """Record an animation of the player on a record, which is not written.

    Args:
        record: The record file.
        presses: What is pressed; from the first step to the last if None.
        size: Columns and rows.
        theme: Name of a theme.

    Raises:
        QuizlogError: The record cannot be opened, or there is no such theme.
    """
    with _still_app(record, "player", theme) as app:

        async def take_frames() -> list[tuple[Frame, float]]:
            async with _running(app, size) as press:
                found = [(take_frame(app), _SECONDS)]
                for key, seconds in _steps(app) if presses is None else presses:
                    await press(key)
                    found.append((take_frame(app), seconds))
                return found

        frames = _run_in_thread(take_frames())
    return Film(f"quizlog {record.name}", [one for one in frames if one[1]])


def _steps(app: QuizlogApp) -> list[KeyPress]:
    """From the start to the end, one step per second."""
    assert isinstance(app.screen, PlayerScreen)
    length = len(app.screen.session.record.inputs)
    return [KeyPress("escape", 0), KeyPress("0"), *[KeyPress("l")] * length, KeyPress("$", 2)]


def read_keys(path: Path) -> list[KeyPress]:
    """Read a file with a key in each line, by Textual's names, and how many seconds follow it.

    Raises:
        UsageError: It cannot be read, or a line is wrong.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read: {error}", where=str(path)) from None
    wanted = [(number, line.split()) for number, line in enumerate(lines, 1)]
    return [_press(path, number, words) for number, words in wanted if words and words[0] != "#"]


def _press(path: Path, number: int, words: list[str]) -> KeyPress:
    try:
        key, seconds = words[0], float(words[1]) if len(words) > 1 else _SECONDS
        if len(words) > 2 or not 0 <= seconds <= 60:
            raise ValueError
    except ValueError:
        hint = "a key and at most 60 seconds, such as `escape 0.5`"
        raise UsageError("is not a key press", where=f"{path}:{number}", hint=hint) from None
    return KeyPress(check_key(key, f"{path}:{number}"), seconds)


@contextmanager
def _still_app(record: Path, screen: str, theme: str) -> Iterator[QuizlogApp]:
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
    async with _running(app, size) as press:
        if step is not None:
            _look(app, step)
            await press()
        for key in keys:
            await press(key)
        return Picture(screen_text(app), screen_svg(app))


@asynccontextmanager
async def _running(
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


def _run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, even if the caller has a running event loop."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


async def until_idle(app: App[Any]) -> None:
    """Wait until all that the program was told has been done and painted.

    What waits for a thread, a process or a time is not awaited, nor what cannot be painted.
    """
    await _until_painted(app)
    await asyncio.sleep(_MOMENT)
    await _until_painted(app)


async def _until_painted(app: App[Any]) -> None:
    """Let all tasks run, and paint, until there is nothing left to do."""
    await _until_all_wait()
    while _is_pending(app):
        try:
            _go_on(app)
        except Exception as error:  # as a timer does
            app._handle_exception(error)
            await _until_all_wait()
            return
        await _until_all_wait()


def _is_pending(app: App[Any]) -> bool:
    """Whether something is left to the timer of the next frame."""
    resized = app._resize_event is not None and bool(app.screen_stack)
    return resized or any(map(_has_pending, app.screen_stack))


def _go_on(app: App[Any]) -> None:
    """Do at once what the timers of the next frame would."""
    app._check_resize()
    for screen in filter(_has_pending, app.screen_stack):
        screen._on_timer_update()


async def _until_all_wait() -> None:
    """Let every other task run until it waits for something."""
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    while loop._ready:  # type: ignore[attr-defined]
        await asyncio.sleep(0)


def _has_pending(screen: Screen[Any]) -> bool:
    """Whether something is to be painted, or to be done after that.

    A screen below another one is painted as part of that.
    """
    paints = screen is screen.app.screen and not screen.app._batch_count
    return bool(screen._callbacks) or (paints and _is_unpainted(screen))


def _is_unpainted(screen: Screen[Any]) -> bool:
    return bool(
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
    )
