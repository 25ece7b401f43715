"""The attacks once more: as an ordinary user, under Landlock alone, and with nothing around them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.replay.process import spawn
from quizlog_tui.sandbox.box import NOBODY
from tests.attacks.__main__ import WALLS
from tests.attacks.by_quizzes.entries import load
from tests.attacks.by_quizzes.judge import perform
from tests.attacks.entries import CODE_ATTACKS, QUIZ_ATTACKS
from tests.attacks.entries import load as load_on_code
from tests.support.devices import devices
from tests.support.long_runs import few
from tests.support.open_python import OURS, open_python

pytestmark = [
    pytest.mark.early,
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
]
_CLOSED = {"ok-pandas", "ok-numpy-linalg"}
"""Libraries of another environment than the interpreter's are closed to code, as any other folder."""
_NO_NAMESPACES = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"]
_SECONDS = 1800
ON_CODE = load_on_code(*CODE_ATTACKS)
QUIZZES = load(QUIZ_ATTACKS)
NEEDS_WALLS = [attack for attack in QUIZZES if attack.category in ("outside", "kernel")]
_SOME_NEED_WALLS = ("canary-read", "canary-changed", "sockets", "devices", "mounts", "kernel-calls")


ALL = ["-m", "tests.attacks", "--json"]
SOME = [*ALL, "--walls"]
campaigns = pytest.mark.parametrize(
    "words",
    [
        pytest.param(SOME, id="one of some classes"),
        pytest.param(ALL, id="all", marks=pytest.mark.long),
    ],
)


@pytest.fixture(scope="module")
def python() -> Iterator[Path]:
    """An interpreter that every user can run."""
    with open_python() as made:
        yield made


def attacked(
    folder: Path, python: Path, words: list[str], before: Sequence[str] = ()
) -> dict[str, Any]:
    """What came of attacks, run by an ordinary user.

    Args:
        folder: For that user's home and temporary files.
        python: The interpreter.
        words: What it is to run.
        before: Words before the command.
    """
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    own = _own_folders(folder)
    with devices(changed=False):
        done = subprocess.run(
            [*before, python, *words],
            cwd=own["TMPDIR"],
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(OURS)} | own,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            **user,  # type: ignore[call-overload]
        )
    if "there is no isolation to attack" in done.stderr or "bwrap:" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode in (0, 3), done.stderr[-5000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _own_folders(folder: Path) -> dict[str, str]:
    made = {"HOME": folder / "home", "TMPDIR": folder / "tmp"}
    for path in made.values():
        path.mkdir()
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
    return {name: str(path) for name, path in made.items()}


def broken(found: dict[str, Any], words: list[str]) -> list[tuple[object, object]]:
    rows = [*found["attacks"], *found["quizzes"]]
    if words is SOME:
        assert {row["category"] for row in rows} == WALLS
    else:
        assert len(rows) == len(ON_CODE) + len(QUIZZES)
    failed = [row for row in rows if not row["holds"] and not row["known_lack"]]
    return [(row["id"], row["wrong"]) for row in failed if row["id"] not in _CLOSED]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="the tests beside this run as an ordinary user")
@campaigns
def test_they_hold_for_an_ordinary_user(folder: Path, python: Path, words: list[str]) -> None:
    assert broken(attacked(folder, python, words), words) == []


@campaigns
def test_they_hold_where_there_is_landlock_alone(
    folder: Path, python: Path, words: list[str]
) -> None:
    """As under systems that permit nobody to make namespaces: no boxes, and no overlays."""
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed, which takes namespaces away")
    found = attacked(folder, python, words, _NO_NAMESPACES)
    assert found["isolation"] == "landlock"
    assert broken(found, words) == []


@pytest.fixture
def without_walls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    open_to_all = "(lambda *places, **how: '')"
    monkeypatch.setattr(
        spawn, "_BOOT", spawn._BOOT.replace("inside.isolation.isolate", open_to_all)
    )
    with devices(changed=True), _restored():
        yield


@contextmanager
def _restored() -> Iterator[None]:
    modes = {path: os.stat(path).st_mode & 0o7777 for path in ("/dev/null", "/dev/zero")}
    yield
    for path, mode in modes.items():
        if os.stat(path).st_mode & 0o7777 != mode:
            os.chmod(path, mode)


@pytest.mark.parametrize("name", few([attack.id for attack in NEEDS_WALLS], *_SOME_NEED_WALLS))
def test_it_succeeds_where_nothing_shuts_it_in(without_walls: None, name: str) -> None:
    """So the entry sees what it is for."""
    [found] = perform([attack for attack in NEEDS_WALLS if attack.id == name])
    assert found.isolation.startswith("none")
    assert found.wrong
