"""Makes all pictures of README and guides from the shipped records: the same bytes every time.

`python -m tests.support.guide_pictures FOLDER` writes them.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from quizlog_tui.episodes.build.build import BuildSettings
from quizlog_tui.episodes.build.make import make as build_episodes
from quizlog_tui.files.paths import shipped
from quizlog_tui.files.scratch import scratch_folder
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.new_record import new_record
from quizlog_tui.session.session import Session
from quizlog_tui.tui.picture import KeyPress, film, picture
from quizlog_tui.tui.screenshot import moving_svg


class Shot(NamedTuple):
    """A picture: what is shown, and the keys that lead there."""

    record: str
    screen: str = "player"
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (100, 28)


_ALGEBRA = "linear-algebra/record.yaml"
_EPISODES = "episodes.jsonl"
SHOTS = {
    "player": Shot(_ALGEBRA, keys=("escape", "b", "down", "down", "l")),
    "tree": Shot(_ALGEBRA, "tree", size=(100, 20)),
    "compare": Shot(_ALGEBRA, "compare", size=(100, 20)),
    "consensus": Shot(_ALGEBRA, "consensus", ("left_square_bracket",)),
    "sweep": Shot(
        "adventure/record.yaml", "sweep", (*"yes", "enter", *"no", "enter", *"half", "f5")
    ),
    "library": Shot(".", "library", size=(100, 16)),
    "episodes": Shot(_EPISODES, "episodes", keys=("down",), size=(100, 24)),
}
"""Every still picture by its name."""
_SUMS = ("21", "22", "55", "80")
_WAY = ("north", "take", "south", "down", "open", "a map")
_RAIN = ("3", "Hill")
_TRIES: dict[str, Sequence[tuple[str, ...]]] = {
    "arithmetic": [(*_SUMS, "90")] * 3 + [(*_SUMS, "99")],
    "survey": [(*_RAIN, "90.3", "the rest of the year")] * 2 + [(*_RAIN, "90")],
    "adventure": [(*_WAY, "no"), (*_WAY, "yes")],
}
"""Shipped quizzes with the answers of several runs, of which episodes are made."""
_AUDIT = [
    KeyPress("escape", 2),
    *[KeyPress("h", 1.2)] * 2,
    KeyPress("i", 1),
    KeyPress("2", 0.4),
    KeyPress("6", 1.2),
    KeyPress("enter", 1.5),
    KeyPress("enter", 3),
    KeyPress("escape", 0),
    KeyPress("c", 1),
    *[KeyPress("down", 0.6)] * 2,
    KeyPress("enter", 4),
]
"""An audit: step back, give another answer on a branch, compare."""
FILM = "audit"
"""The name of the moving picture."""


def make(name: str) -> str:
    """One picture, in the current folder, which must hold the shipped records."""
    if name == FILM:
        return moving_svg(film(Path(_ALGEBRA), _AUDIT, size=(100, 28)))
    shot = SHOTS[name]
    if shot.screen == "episodes":
        _write_episodes(Path(shot.record))
    return picture(shot.record, size=shot.size, keys=shot.keys, screen=shot.screen).svg


def _write_episodes(path: Path) -> None:
    """Answer shipped quizzes several times, and build a file of episodes from these runs."""
    records = []
    for name, tries in _TRIES.items():
        script, seed = Path(name, "quiz.py"), RecordFile(Path(name, "record.yaml")).read().seed
        for number, answers in enumerate(tries, 1):
            records.append(script.with_name(f"run-{number}.yaml"))
            new_record(script, records[-1], seed, clock=_stopped)
            with Session(records[-1], clock=_stopped) as session:
                for answer in answers:
                    session.answer(answer)
    build_episodes(records, path, BuildSettings(), lambda doing, done, total: None)


def _stopped() -> str:
    return "2026-11-22T14:40:00+00:00"


def main(target: Path) -> None:
    """Write all pictures to a folder."""
    target = target.absolute()
    for name in (*SHOTS, FILM):
        with scratch_folder("pictures") as folder:
            shutil.copytree(shipped("records"), folder / "records")
            with chdir(folder / "records"):
                (target / f"{name}.svg").write_text(make(name), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
