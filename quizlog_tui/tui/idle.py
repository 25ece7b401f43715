"""Waits until the screens have nothing more to do, for pictures and tests.

Textual takes a program for idle that used hardly any processor time for 20 ms: a wait of 20 ms at
least, and wrong where others keep the machine busy. Here it is seen: no task of the event loop has
anything left to do, and nothing is yet to be painted.
"""

from __future__ import annotations

import asyncio
from typing import Any

from textual.app import App
from textual.screen import Screen

_MOMENT = 0.001
"""Seconds that threads get to hand over what they have made."""


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
