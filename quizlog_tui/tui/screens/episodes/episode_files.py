"""Asks for a file of episodes and opens it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....episodes.read.index import USUAL, EpisodeFile, episode_files
from ....session.audit import Audit, may_read, readable_path
from ...widgets.documents import line
from ..base import QuizlogScreen
from ..dialogs import AskScreen, ChooseScreen


async def choose_file(
    screen: QuizlogScreen[Any], folder: Path, audit: Audit | None
) -> EpisodeFile | None:
    """Ask for a file below a folder, or another; None if none was chosen or it is unreadable."""
    every = await screen.slow_work.run(lambda: episode_files(folder), "looking for episodes")
    found = [path for path in every or [] if may_read(audit, path)]
    chosen: int | None = len(found)
    if found:
        names = [line(str(path.relative_to(folder)), cut=True) for path in found]
        lines = [*names, line("  another file...", cut=True)]
        question = "Open which file of episodes?"
        chosen = await screen.app.push_screen_wait(ChooseScreen(question, lines))
    if chosen is None:
        return None
    if chosen == len(found):
        return await _ask_for_file(screen, audit)
    path = found[chosen]
    return await screen.slow_work.run(lambda: EpisodeFile(path), "opening")


async def _ask_for_file(screen: QuizlogScreen[Any], audit: Audit | None) -> EpisodeFile | None:
    ask = AskScreen("Open which file of episodes?", USUAL)
    wanted = (await screen.app.push_screen_wait(ask) or "").strip()
    if not wanted:
        return None
    return await screen.slow_work.run(lambda: EpisodeFile(readable_path(audit, wanted)), "opening")
