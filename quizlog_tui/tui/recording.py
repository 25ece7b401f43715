"""Records animations of the player: presses keys and shows each screen for a given time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import UsageError
from .app import QuizlogApp
from .draw.cast import Film
from .draw.terminal_frame import Frame
from .keys.keymap import check_key
from .picture import run_in_thread, running, still_app
from .player.player import PlayerScreen
from .screenshot import take_frame
from .themes.theming import DEFAULT

SECONDS = 1.0
"""Default seconds for which a screen is shown."""


class KeyPress(NamedTuple):
    """A key, and the seconds for which its result is shown."""

    key: str
    seconds: float = SECONDS


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
        key, seconds = words[0], float(words[1]) if len(words) > 1 else SECONDS
        if len(words) > 2 or not 0 <= seconds <= 60:
            raise ValueError
    except ValueError:
        hint = "a key and at most 60 seconds, such as `escape 0.5`"
        raise UsageError("is not a key press", where=f"{path}:{number}", hint=hint) from None
    return KeyPress(check_key(key, f"{path}:{number}"), seconds)


def film(
    record: Path,
    presses: Sequence[KeyPress] | None = None,
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
    with still_app(record, "player", theme) as app:

        async def take_frames() -> list[tuple[Frame, float]]:
            async with running(app, size) as press:
                found = [(take_frame(app), SECONDS)]
                for key, seconds in _steps(app) if presses is None else presses:
                    await press(key)
                    found.append((take_frame(app), seconds))
                return found

        frames = run_in_thread(take_frames())
    return Film(f"quizlog {record.name}", [one for one in frames if one[1]])


def _steps(app: QuizlogApp) -> list[KeyPress]:
    """From the start to the end, one step per second."""
    assert isinstance(app.screen, PlayerScreen)
    length = len(app.screen.session.record.inputs)
    return [KeyPress("escape", 0), KeyPress("0"), *[KeyPress("l")] * length, KeyPress("$", 2)]
