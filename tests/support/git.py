"""A git repository in a test's folder, whose own settings are nobody's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> str:
    """What git says in a folder, with no settings of this machine."""
    nobody = {
        f"GIT_{part}_{what}": "a@b"
        for part in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    variables = os.environ | nobody | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=variables, capture_output=True, text=True, check=True
    )
    return done.stdout


def commit_all(folder: Path, *, init: bool = True) -> None:
    """Commit all that lies in a folder, at first to a new repository."""
    if init:
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
