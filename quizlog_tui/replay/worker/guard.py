"""The guard: a process whose only work is that nothing of the script outlives quizlog.

It adopts orphans (Linux: as child subreaper), so that even a daemon which the script detached stays
below it. Holds no copy of the script's state and runs none of its code.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def split(guarded: int, others: list[int]) -> None:
    """Fork: the parent stays here as the guard, the child returns and becomes the quiz.

    Args:
        guarded: The socket to quizlog whose closing means death.
        others: Descriptors that belong to the quiz alone.
    """
    _process_control(_PR_SET_CHILD_SUBREAPER, 1)
    pid = os.fork()
    if pid == 0:
        os.close(guarded)
        os.setsid()
        _process_control(_PR_SET_PDEATHSIG, signal.SIGKILL)
        return
    for fd in (*others, 0, 1, 2):
        os.close(fd)
    try:
        _watch(pid, guarded)
    finally:
        os._exit(0)


def _process_control(option: int, value: int) -> None:
    """Linux `prctl`, called without the cost of importing ctypes; nothing elsewhere."""
    if sys.platform == "linux":
        import _ctypes

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
        _ctypes.call_function(prctl, (option, value, 0, 0, 0))


def _watch(pid: int, guarded: int) -> None:
    """Until quizlog or the quiz ends; then report the quiz's status and kill all that is left."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(guarded, select.POLLIN)
    poll.register(wake_read, select.POLLIN)
    status = _reap(pid)
    while status is None:
        ready = [fd for fd, _ in poll.poll()]
        if guarded in ready:
            break
        os.read(wake_read, 4096)
        status = _reap(pid)
    _kill_all(pid)
    if status is not None:
        os.write(guarded, str(status).encode())


def _reap(pid: int) -> int | None:
    """Collect every ended child; the wait status of `pid` if it is among them."""
    status = None
    try:
        while True:
            ended, code = os.waitpid(-1, os.WNOHANG)
            if ended == 0:
                break
            if ended == pid:
                status = code
    except ChildProcessError:
        pass
    return status


def _kill_all(pid: int) -> None:
    """Kill every process below this one until there is none."""
    try:
        while True:
            for victim in _descendants(os.getpid()) or [-pid]:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(victim, signal.SIGKILL)
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def _descendants(pid: int) -> list[int]:
    """The processes below `pid`, from /proc; empty where there is none."""
    found: list[int] = []
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as children:
            direct = [int(word) for word in children.read().split()]
    except OSError:
        return found
    for child in direct:
        found += [child, *_descendants(child)]
    return found
