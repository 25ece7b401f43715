"""An interpreter that every user of the machine can read, with the libraries of the one in use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

OURS = Path(__file__).parents[2]
OUTSIDE_BOXES = "/opt"
"""Where the copy goes: a box has a `/tmp` of its own."""


def open_to_others(path: str | Path) -> bool:
    """Whether every user may reach what lies there."""
    folder = Path(path).resolve()
    return all(step.stat().st_mode & 0o001 for step in (folder, *folder.parents))


@contextmanager
def open_python() -> Iterator[Path]:
    """A copy of the interpreter, or the one in use where all users can read that."""
    if open_to_others(sys.base_prefix) and open_to_others(sys.prefix):
        yield Path(sys.executable)
        return
    if not open_to_others(OURS) or not os.access(OUTSIDE_BOXES, os.W_OK):
        pytest.skip(f"needs a checkout that others can read, and {OUTSIDE_BOXES}")
    with tempfile.TemporaryDirectory(prefix="quizlog-python-", dir=OUTSIDE_BOXES) as name:
        folder = Path(name)
        folder.chmod(0o755)
        ignored = shutil.ignore_patterns("site-packages", "test", "share")
        shutil.copytree(sys.base_prefix, folder / "base", True, ignored, _linked)
        (folder / "base").chmod(0o755)
        base = folder / "base" / "bin" / f"python{sysconfig.get_python_version()}"
        _find_library_beside(base)
        subprocess.run([base, "-m", "venv", "--without-pip", folder / "own"], check=True)
        [packages] = (folder / "own").glob("lib/python*/site-packages")
        (packages / "ours.pth").write_text(f"{sysconfig.get_path('purelib')}\n{OURS}\n")
        yield folder / "own" / "bin" / "python"


def _find_library_beside(python: Path) -> None:
    """Let a copied interpreter load the copied library: it names the folder it was built for."""
    built = f"{sys.base_prefix}/lib".encode() + b"\0"
    here = b"$ORIGIN/../lib".ljust(len(built), b"\0")
    code = python.read_bytes()
    python.unlink()  # it may be a link to the interpreter in use
    python.write_bytes(code.replace(built, here) if len(here) == len(built) else code)
    python.chmod(0o755)


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)
