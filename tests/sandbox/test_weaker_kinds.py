"""The kinds of isolation below the best, for root whose Python lies where others cannot read it.

Code never runs as root under them, so the tests beside this one cannot try them there. Here they
are run once more by a copy of the interpreter that everybody may read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from quizlog_tui.sandbox.levels import INSIDE, _open_to_others

OURS = Path(__file__).parents[2]
OUTSIDE_BOXES = "/opt"
"""Where the copy goes: a box has a `/tmp` of its own."""


@pytest.fixture
def python() -> Iterator[Path]:
    """An interpreter with the same libraries, which all users can read."""
    if sys.platform != "linux" or os.geteuid() != 0 or _open_to_others(sys.base_prefix):
        pytest.skip("the interpreter in use is open to whoever code runs as")
    if not _open_to_others(INSIDE) or not os.access(OUTSIDE_BOXES, os.W_OK):
        pytest.skip(f"needs a checkout that others can read, and {OUTSIDE_BOXES}")
    with tempfile.TemporaryDirectory(prefix="quizlog-python-", dir=OUTSIDE_BOXES) as name:
        folder = Path(name)
        folder.chmod(0o755)
        ignored = shutil.ignore_patterns("site-packages", "test", "share")
        shutil.copytree(sys.base_prefix, folder / "base", True, ignored, _linked)
        (folder / "base").chmod(0o755)
        base = folder / "base" / "bin" / f"python{sysconfig.get_python_version()}"
        subprocess.run([base, "-m", "venv", "--without-pip", folder / "own"], check=True)
        [packages] = (folder / "own").glob("lib/python*/site-packages")
        (packages / "ours.pth").write_text(f"{sysconfig.get_path('purelib')}\n{OURS}\n")
        yield folder / "own" / "bin" / "python"


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)


def tried(python: Path, words: list[str], **variables: str) -> str:
    """What pytest says of these tests, all of which must pass."""
    command = [python, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *words]
    environment = os.environ | {"PYTEST_ADDOPTS": ""} | variables
    done = subprocess.run(command, cwd=OURS, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert "other users cannot read" not in done.stdout, done.stdout[-5000:]
    assert " passed" in done.stdout
    return done.stdout


def test_what_is_tried_beside_this_holds_under_every_kind(python: Path) -> None:
    files = ["tests/sandbox/test_run.py", "tests/sandbox/test_executor.py"]
    tried(python, [*files, "-k", "not bwrap and not undivided"])


def test_attacks_fail_where_there_is_no_bubblewrap(python: Path, tmp_path: Path) -> None:
    for folder in os.environ["PATH"].split(":"):
        for path in Path(folder).glob("*") if Path(folder).is_dir() else ():
            link = tmp_path / path.name
            if path.name != "bwrap" and not link.is_symlink():
                link.symlink_to(path)
    # Libraries of another environment are closed there, as any other folder is.
    words = ["tests/sandbox/test_attacks.py", "-k", "not pandas and not numpy"]
    said = tried(python, words, PATH=str(tmp_path))
    if "there is no isolation to attack" in said:
        pytest.skip("this system has no Landlock")
    assert "landlock is known to lack this" in said, "bubblewrap was found all the same"
