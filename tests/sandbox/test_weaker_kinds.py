"""The kinds of isolation below the best, for root whose Python lies where others cannot read it.

Code never runs as root under them, so the tests beside this one cannot try them there. Here they
are run once more by a copy of the interpreter that everybody may read.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.open_python import OURS, open_python, open_to_others


@pytest.fixture
def python() -> Iterator[Path]:
    """An interpreter with the same libraries, which all users can read."""
    if sys.platform != "linux" or os.geteuid() != 0 or open_to_others(sys.base_prefix):
        pytest.skip("the interpreter in use is open to whoever code runs as")
    with open_python() as made:
        yield made


def tried(python: Path, words: list[str], **variables: str) -> str:
    """What pytest says of these tests, all of which must pass."""
    command = [python, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *words]
    environment = os.environ | {"PYTEST_ADDOPTS": ""} | variables
    done = subprocess.run(command, cwd=OURS, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert "other users cannot read" not in done.stdout, done.stdout[-5000:]
    assert " passed" in done.stdout
    return done.stdout


@pytest.mark.long
def test_what_is_tried_beside_this_holds_under_every_kind(python: Path) -> None:
    files = ["tests/sandbox/test_run.py", "tests/sandbox/test_executor.py"]
    tried(python, [*files, "-k", "not bwrap and not undivided"])
