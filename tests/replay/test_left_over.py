"""What else lies in the folder of a run in whose world leftover files are changed."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import pytest

from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.worker.fixed.other_machine import OtherMachine
from quizlog_tui.replay.world import UNAVAILABLE, World
from tests.support.build import Build

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

LOOK = """
import os, sys
print(sorted(os.path.join(at, name)[2:] for at, _, names in os.walk(".") for name in names))
"""


def found(build: Build, *hidden: str) -> set[str]:
    """The files that a run finds, if it does not find those."""
    run = replay(build.script(LOOK), replace(World(3).but(["leftovers"]), hidden=hidden), [])
    if "folder" in run.unavailable:
        pytest.skip(UNAVAILABLE["folder"])
    return set(eval(run.print[0]))


def test_two_files_are_added_that_are_not_there(build: Build) -> None:
    kinds = OtherMachine(3).left
    assert found(build) == {"quiz.py", *(names[0][0] for names in kinds)}
    for names in kinds:
        (build.folder / names[0][0]).write_text("the user's own")
    own = {"quiz.py", *(names[0][0] for names in kinds)}
    assert found(build) == own | {names[1][0] for names in kinds}
    for names in kinds:
        for name, _ in names:
            (build.folder / name).write_text("the user's own")
    assert found(build) == {path.name for path in build.folder.iterdir()}


def test_files_that_the_script_writes_are_not_there_wherever_they_lie(build: Build) -> None:
    below = build.folder / "a" / "b"
    below.mkdir(parents=True)
    for folder in (build.folder, below.parent, below):
        for name in ("kept", "own"):
            (folder / name).touch()
    (build.folder / "link").symlink_to("a")
    shown = found(build, "own", "a/b/own", "link/own", "none", "a/none")
    added = {names[0][0] for names in OtherMachine(3).left}
    assert shown - added == {"quiz.py", "kept", "a/kept", "a/b/kept"}
    assert (below / "own").exists() and (build.folder / "link").is_symlink()


def test_nothing_seems_to_be_written_and_times_and_modes_are_usual(build: Build) -> None:
    (build.folder / "own").touch()
    (build.folder / "a").mkdir(mode=0o750)
    (build.folder / "a" / "own").touch()
    os.utime(build.folder / "a", (10**9, 10**9))
    look = """
    import os, sys
    print(sys.stdout.log.world.folder.touched())
    print([one.name for one in os.scandir() if os.stat(one).st_mtime > os.stat("quiz.py").st_mtime])
    print(os.stat("a").st_mtime, oct(os.stat("a").st_mode))
    """
    world = replace(World(3).but(["leftovers"]), hidden=("own", "a/own"))
    run = replay(build.script(look), world, [])
    assert run.status == "success", run.stderr
    assert run.print == ("False", "[]", "1000000000.0 0o40750")
