"""What a process of tests has for itself: signals, a folder for temporary files, and orphans."""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import signal
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


_PYTHONS_OWN = {signal.SIGPIPE, signal.SIGXFSZ}
"""Ignored by Python itself in every process, and restored in those that it starts."""


def reset_signals() -> None:
    """Undo what was inherited: a shell lets what it starts with `&` ignore SIGINT, nohup SIGHUP.

    Processes that tests start would inherit it too, and could not be ended by Ctrl-C.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - _PYTHONS_OWN:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
