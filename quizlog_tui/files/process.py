"""What a process has from its parent, and the programs it runs: descriptors, umask, PATH, children.

Closed descriptors, a strict umask and relative folders in PATH are corrected when a command starts.
A program is never run from the current folder, perhaps a stranger's: by its name it is searched for
in the absolute folders of PATH only, and what the user has put on a key runs in the home folder.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_OWN = 0o700
"""The owner's permission bits of a file mode."""


def open_standard_descriptors() -> None:
    """Open the null device on each of the descriptors 0 to 2 that is closed.

    Otherwise the next file or socket to be opened would get that number, and with it the output
    meant for the standard stream. All are opened for writing only, so that reading from a closed
    stdin still fails and is not taken for an empty answer.
    """
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_WRONLY)  # gets the lowest free number, which is this one
            os.set_inheritable(fd, True)


def keep_own_rights() -> None:
    """Make new files readable and writable by their owner, whatever the umask is.

    If the umask removed these permissions, a lock or folder made here could not be opened again.
    """
    os.umask(os.umask(_OWN) & ~_OWN)


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
    from pathlib import Path  # for the few that need it: every command loads this module first

    home = os.path.expanduser("~")
    return Path(home if os.path.isabs(home) and os.access(home, os.X_OK) else "/")


def children(pid: int) -> set[int]:
    """The children of a process, also ended ones that it has not collected."""
    from contextlib import suppress

    found: set[int] = set()
    with suppress(OSError):  # gone, or another system
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found.update(map(int, file.read().split()))
    return found
