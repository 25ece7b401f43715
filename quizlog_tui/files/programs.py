"""Where other programs are looked up and run: never in the current folder, perhaps a stranger's.

A program by its name is searched for in the absolute folders of PATH only. What the user has put on
a key runs in the home folder.
"""

from __future__ import annotations

import os
from pathlib import Path


def search_path() -> str:
    """The absolute entries of PATH; the system's default if there are none."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, entries)) or os.defpath


def drop_relative_entries() -> None:
    """Take the relative entries out of PATH, for this process and all that it starts.

    An empty entry means the current folder, as `.` does.
    """
    os.environ["PATH"] = search_path()


def find_program(name: str) -> str | None:
    """The path of a program by its name or absolute path; None if there is none."""
    import shutil

    if os.sep in name and not os.path.isabs(name):
        return None
    return shutil.which(name, path=search_path())


def home_folder() -> Path:
    """The user's home folder; the root folder for a user who has none."""
    home = os.path.expanduser("~")
    return Path(home if os.path.isabs(home) and os.access(home, os.X_OK) else "/")
