"""What a process of tests has for itself: a folder for temporary files, and what its children leave."""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import sys
import tempfile

_CHILD_SUBREAPER = 36


def take_temporary_folder() -> None:
    """Let temporary files of this process, and of those it starts, be made in a folder of their own.

    The folders of `tmp_path` stay where pytest has them, so that those of failed tests can be read.
    """
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    folder = tempfile.mkdtemp(prefix="quizlog-")  # those of workers are inside that of their run
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chmod(folder, 0o1777)  # as /tmp: some processes run as other users
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    # A browser's sound makes files there.
    os.environ["XDG_RUNTIME_DIR"] = os.path.join(folder, "run")
    os.mkdir(os.environ["XDG_RUNTIME_DIR"], 0o700)


def adopt_orphans() -> None:
    """Become the parent of processes below this one whose own parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
