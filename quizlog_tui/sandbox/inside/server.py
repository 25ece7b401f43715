"""The server of a box, and the keeper that it forks for every requested run.

The server loads libraries once. If the box can be divided, the keeper is the first process in the
run's namespaces. It receives the files and the code from the parent over the run's socket, forks
the confined child that executes the code, reports how the child ended, and waits to be ended
itself. It never reads what the child writes.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from . import wire
from .code import execute
from .confine import become, confine, ready
from .wire import BoxSetup, RunSetup

_CHUNK = 1 << 20
_PASSES = 100
"""Maximum number of times that a run's processes are stopped before they are killed."""


def keep(
    box: BoxSetup, sock: socket.socket, pipes: list[int], prepare: Callable[[], None]
) -> NoReturn:
    """Act as the keeper of a run, with its socket and the pipes for answer, stdout and stderr."""
    try:
        prepare()
        wakes = _wake_at_ends()
        wire.send(sock, {"up": True})
        run, source = _read_setup(sock)
        child = os.fork()
        if child == 0:
            _be_the_code(box, run, source, sock, pipes)
        for fd in pipes:
            os.close(fd)
        _watch(sock, child, wakes)
    except BaseException as error:
        with contextlib.suppress(OSError):
            wire.send(sock, {"failed": f"{type(error).__name__}: {error}"})
    finally:
        end_descendants()
        os._exit(0)


def _wake_at_ends() -> int:
    """A descriptor that receives a byte whenever a child ends."""
    wakes, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wakes


def _read_setup(sock: socket.socket) -> tuple[RunSetup, str]:
    """Receive the run's files into its folder, then its setup and code, which are returned."""
    while True:
        message = wire.receive(sock)
        if message is None:
            os._exit(0)
        data: dict[str, Any] = message.data
        if "run" in data:
            return RunSetup(**data["run"]), data["code"]
        for path, fd in zip(data["files"], message.fds):
            _copy(path, fd)


def _copy(path: str, source: int) -> None:
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        while part := os.read(source, _CHUNK):
            os.write(target, part)
    finally:
        os.close(target)
        os.close(source)


def _watch(sock: socket.socket, child: int, wakes: int) -> None:
    """Until the parent ends the run, report how the child ended, and reap orphaned processes."""
    while True:
        ready, _, _ = select.select([sock.fileno(), wakes], [], [])
        if sock.fileno() in ready:
            return
        os.read(wakes, 4096)
        _reap(sock, child)


def _reap(sock: socket.socket, child: int) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid == child:
            wire.send(sock, {"ended": os.waitstatus_to_exitcode(status)})


def _be_the_code(
    box: BoxSetup, run: RunSetup, source: str, sock: socket.socket, pipes: list[int]
) -> NoReturn:
    """Become the confined child and execute."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.chdir(run.folder)
        os.environ.update(HOME=run.folder, TMPDIR=run.temporary, PWD=run.folder)
        _fresh_streams()
        _fresh_random()
        confine(box, run)
        wire.send(sock, {"running": True})
        result = _only_pipes(pipes)
    except BaseException as error:
        with contextlib.suppress(OSError):
            wire.send(sock, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)
    execute(source, result, run.answer)


def _only_pipes(pipes: list[int]) -> int:
    """Leave the child only empty stdin, stdout, stderr and the answer's pipe, which is returned."""
    kept = [os.dup(fd) for fd in pipes]
    null = os.open(os.devnull, os.O_RDONLY)
    high = [os.dup2(fd, 200 + at) for at, fd in enumerate([null, kept[1], kept[2], kept[0]])]
    os.closerange(0, 200)
    for at, fd in enumerate(high):
        os.dup2(fd, at)
    os.closerange(4, _open_files())
    return 3


def _open_files() -> int:
    return min(os.sysconf("SC_OPEN_MAX"), 1 << 16)


def _fresh_streams() -> None:
    """Make text streams that are unbuffered and can write any text."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(  # type: ignore[union-attr]
            encoding="utf-8", errors="backslashreplace", line_buffering=True
        )


def _fresh_random() -> None:
    """Seed `random` anew, as copies of the server would draw the same numbers in every run."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()


def end_descendants() -> None:
    """Kill all descendants of this process, for boxes without namespaces that would do so."""
    if os.getpid() == 1:
        return
    while _descendants(os.getpid()):
        _freeze()
        for pid in _descendants(os.getpid()):
            _signal_group(pid, signal.SIGKILL)
        _bury()


def _freeze() -> None:
    """Stop all descendants first; if killed one by one, others could start new ones meanwhile."""
    for _ in range(_PASSES):  # a process that waits for a stopped child may never stop
        _bury()  # each of the dead makes a pass longer, and takes a number that others may need
        moving = [pid for pid in _descendants(os.getpid()) if _state(pid) not in b"TtZX"]
        if not moving:
            return
        for pid in moving:
            _signal_group(pid, signal.SIGSTOP)


def _signal_group(pid: int, number: int) -> None:
    """Signal a descendant and its group; a group that is signalled at once outruns no `fork`.

    A group of this process's own session may be somebody else's.
    """
    with contextlib.suppress(OSError):
        os.kill(pid, number)
        if os.getsid(pid) != os.getsid(0):
            os.killpg(os.getpgid(pid), number)


def _bury() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _state(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1]
    except OSError:
        return b"X"


def _descendants(pid: int) -> list[int]:
    """All visible descendants of a process, live and dead."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        try:
            with open(f"/proc/{current}/task/{current}/children", encoding="ascii") as file:
                children = [int(word) for word in file.read().split()]
        except OSError:
            continue
        found += children
        waiting += children
    return found


def main(fd: int) -> None:
    """Serve until the parent ends, whose socket is `fd`."""
    sock = socket.socket(fileno=fd)
    first = wire.receive(sock)
    if first is None:
        return
    box = BoxSetup(**first.data)
    if box.mount_proc:
        from .kernel import mount_proc

        mount_proc()
    if box.drop_to is not None:
        become(box.drop_to)
    sys.path += box.paths
    ready(box)
    _preload(box.preload)
    divisible = box.level == "bwrap" and _divisible()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    wire.send(sock, {"ready": True, "divisible": divisible})
    while message := wire.receive(sock):
        job = socket.socket(fileno=message.fds[0])
        try:
            _start(box, sock, job, message.fds[1:], message.data["disk"] if divisible else None)
        finally:
            job.close()
            for other in message.fds[1:]:
                os.close(other)


def _start(
    box: BoxSetup, sock: socket.socket, job: socket.socket, pipes: list[int], disk: int | None
) -> None:
    """Fork the keeper of a run, into new namespaces if `disk` is given."""
    prepare: Callable[[], None] = _take_orphans
    try:
        if disk is None:
            child = os.fork()
        else:
            from .kernel import fork_apart, settle

            prepare = partial(settle, os.getuid(), os.getgid(), disk)
            child = fork_apart()
    except OSError as error:
        wire.send(job, {"failed": str(error)})
        return
    if child == 0:
        sock.close()
        keep(box, job, pipes, prepare)


def _take_orphans() -> None:
    if sys.platform == "linux":
        from . import kernel

        kernel.prctl(kernel.SET_CHILD_SUBREAPER, 1)


def _preload(names: list[str]) -> None:
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    gc.collect()
    gc.freeze()


def _divisible() -> bool:
    from .kernel import possible

    return possible()
