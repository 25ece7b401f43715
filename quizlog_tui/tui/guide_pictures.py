"""Makes all pictures of README and guides from the shipped records: the same bytes every time.

`python -m quizlog_tui.tui.guide_pictures FOLDER` writes them.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from ..files.paths import shipped
from ..files.scratch import scratch_folder
from .draw.cast import moving_svg
from .picture import picture
from .recording import KeyPress, film


class Shot(NamedTuple):
    """A picture: what is shown, and the keys that lead there."""

    record: str
    screen: str = "player"
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (100, 28)


_ALGEBRA = "linear-algebra/solved.yaml"
SHOTS = {
    "player": Shot(_ALGEBRA, keys=("escape", "b", "down", "down", "l")),
    "tree": Shot(_ALGEBRA, "tree", size=(100, 20)),
    "compare": Shot(_ALGEBRA, "compare", size=(100, 20)),
    "consensus": Shot(_ALGEBRA, "consensus"),
    "sweep": Shot(
        "adventure/record.yaml", "sweep", (*"yes", "enter", *"no", "enter", *"half", "f5")
    ),
    "library": Shot(".", "library", size=(100, 16)),
}
"""Every still picture by its name."""
_AUDIT = [
    KeyPress("escape", 2),
    *[KeyPress("h", 1.2)] * 3,
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
"""An audit: step back, answer otherwise on a branch, compare."""
FILM = "audit"
"""The name of the moving picture."""


def make(name: str) -> str:
    """One picture, in the current folder, which must hold the shipped records."""
    if name == FILM:
        return moving_svg(film(Path(_ALGEBRA), _AUDIT, size=(100, 28)))
    shot = SHOTS[name]
    return picture(shot.record, size=shot.size, keys=shot.keys, screen=shot.screen).svg


def main(target: Path) -> None:
    """Write all pictures to a folder."""
    target = target.absolute()
    with scratch_folder("pictures") as folder:
        shutil.copytree(shipped("records"), folder / "records")
        with chdir(folder / "records"):
            for name in (*SHOTS, FILM):
                (target / f"{name}.svg").write_text(make(name), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
