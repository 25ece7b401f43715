"""A box: a server process in isolation, which starts runs on request.

Also the isolation levels: what each one lacks, and how a box of each level is started.
"""

from __future__ import annotations

import contextlib
import os
import select
import site
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from threading import Lock

from ..files.process import find_program
from . import usage
from .inside import wire
from .inside.isolation import SCOPES, landlock_version
from .inside.wire import BoxSetup, Level

LABELS: dict[Level, str] = {
    "bwrap": "bwrap",
    "landlock": "landlock",
    "rlimits": "UNSAFE: rlimits only",
}
"""The names of isolation levels in results."""
LACKS: dict[Level, str] = {
    "bwrap": "",
    "landlock": "memory and disk of a run are watched, not enforced",
    "rlimits": "code can read your files, use the network and signal your programs",
}
"""What each level does not guarantee."""
ISOLATED: tuple[Level, ...] = ("bwrap", "landlock")
"""Isolation levels that block file and network access."""

INSIDE = Path(__file__).parent / "inside"
PRELOAD = ["numpy", "pandas"]
NOBODY = 65534
_MOUNTED = "/opt/quizlog/inside"
_ENVIRONMENT_MOUNTED = "/opt/quizlog/environment"
_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
"""The parts of an interpreter's folder that belong to it; it may be a project folder too."""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "nobody",
    "LOGNAME": "nobody",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "Agg",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""The whole environment of the code, except HOME and TMPDIR, which each run sets."""


def _readable_folders() -> list[str]:
    """The folders of the interpreter and its libraries, which code may read."""
    found = ["/usr", *_site_folders(), *_parts(sys.base_prefix), *_parts(sys.prefix)]
    return list(dict.fromkeys(found))


def _parts(prefix: str) -> list[str]:
    if Path(prefix).is_relative_to("/usr"):
        return []
    return [path for path in (f"{prefix}/{part}" for part in _PARTS) if os.path.exists(path)]


def _site_folders() -> list[str]:
    """The folders of the user's own packages, which an isolated interpreter would ignore."""
    own = site.getusersitepackages()
    return [own] if site.ENABLE_USER_SITE and own in sys.path else []


def _box_setup(level: Level, preload: list[str]) -> BoxSetup:
    """The setup of a box of this level on this machine."""
    etc = ["/etc/ld.so.cache", "/etc/localtime", "/bin", "/lib", "/lib64", str(INSIDE)]
    return BoxSetup(
        level=level,
        preload=preload,
        paths=_site_folders(),
        readable=[*_readable_folders(), *etc],
        drop_to=_drop_to(level),
        mount_proc=level == "bwrap" and os.geteuid() == 0,
    )


def _drop_to(level: Level) -> int | None:
    """The user id to switch to if started by root: that of `nobody`.

    Raises:
        PermissionError: `nobody` cannot read the interpreter. Untrusted code never runs as root,
            who has no limit on processes and may access all files.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    for folder in (sys.base_prefix, sys.prefix, INSIDE):
        if level != "bwrap" and not _open_to_others(folder):
            raise PermissionError(f"started by root, and other users cannot read {folder}")
    return NOBODY


def _open_to_others(path: str | Path) -> bool:
    folder = Path(path).resolve()
    return all(step.stat().st_mode & 0o001 for step in (folder, *folder.parents))


def _command(level: Level, control: int) -> list[str]:
    """The command line of a box.

    Raises:
        FileNotFoundError: bubblewrap is not installed.
    """
    if level == "bwrap":
        return [*_bwrap(), *_server(_interpreter(), _MOUNTED, control)]
    return _server(sys.executable, str(INSIDE), control)


def _interpreter() -> str:
    """The interpreter's path in a box, where a virtual environment is mounted elsewhere."""
    path = Path(sys.executable)
    if sys.prefix != sys.base_prefix and path.is_relative_to(sys.prefix):
        return f"{_ENVIRONMENT_MOUNTED}/{path.relative_to(sys.prefix)}"
    return sys.executable


def _server(interpreter: str, inside: str, control: int) -> list[str]:
    folder = os.path.dirname(inside)
    start = f"import sys; sys.path.insert(0, {folder!r}); "
    start += f"from inside.server import main; main({control})"
    return [interpreter, "-I", "-c", start]


def _bwrap() -> list[str]:
    """The bubblewrap command: an empty root with the interpreter in it, and no network."""
    program = find_program("bwrap")
    if program is None:
        raise FileNotFoundError("bubblewrap (bwrap) is not installed")
    return [program, *_namespaces(), *_places(), *_files(), *_environment(), "--chdir", "/", "--"]


def _namespaces() -> list[str]:
    words = ["ipc", "pid", "uts", "net", "cgroup-try"]
    found = [f"--unshare-{word}" for word in words]
    found += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"]
    if os.geteuid() == 0:
        # Root mounts what `nobody` may read, then switches to `nobody` before loading anything.
        kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_ADMIN")
        return [*found, "--cap-drop", "ALL", *(word for c in kept for word in ("--cap-add", c))]
    user = str(NOBODY)
    return [*found, "--unshare-user", "--uid", user, "--gid", user, "--cap-drop", "ALL"]


def _files() -> list[str]:
    words: list[str] = []
    for path in ["/usr", *_site_folders(), *_parts(sys.base_prefix)]:
        words += _show(path, path)
    if sys.prefix != sys.base_prefix:
        for path in _parts(sys.prefix):
            words += _show(path, f"{_ENVIRONMENT_MOUNTED}/{os.path.basename(path)}")
    for name in ("bin", "lib", "lib64", "sbin"):
        if os.path.islink(f"/{name}"):
            words += ["--symlink", f"usr/{name}", f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            words += ["--ro-bind", f"/{name}", f"/{name}"]
    for path in ("/etc/ld.so.cache", "/etc/localtime"):
        words += ["--ro-bind-try", path, path]
    return [*words, *_show(str(INSIDE), _MOUNTED), "--remount-ro", "/dev", "--remount-ro", "/"]


def _show(path: str, target: str) -> list[str]:
    """Mount a file or folder read-only at a path that every user can reach."""
    folder = Path(target).parent
    made = [] if folder == Path("/") else ["--dir", str(folder)]
    return [*made, "--ro-bind", path, target]


def _places() -> list[str]:
    """Writable folders, for runs that have a box to themselves; other runs make their own."""
    proc = "--dir" if os.geteuid() == 0 else "--proc"
    words = [proc, "/proc", "--dev", "/dev", "--dir", "/stage"]
    for path in ("/dev/shm", "/tmp", "/task"):
        words += ["--perms", "1777", "--tmpfs", path]
    return words


def _environment() -> list[str]:
    words: list[str] = []
    for name, value in (ENVIRONMENT | {"HOME": "/task", "TMPDIR": "/tmp"}).items():
        words += ["--setenv", name, value]
    return words


_START = 60.0
"""Seconds that a box may take to load its libraries, on a busy machine."""

# The kernel ends a box with the thread that started it, so one permanent thread starts them all.
_LAUNCHER = ThreadPoolExecutor(1, thread_name_prefix="quizlog-launcher")


class BoxError(Exception):
    """A box could not be started or has died."""


class Box:
    """A running server; thread-safe.

    Raises:
        BoxError: It did not start.
    """

    def __init__(self, level: Level, preload: list[str]) -> None:
        self.level = level
        try:
            setup = _box_setup(level, preload)
        except PermissionError as error:
            raise BoxError(str(error)) from None
        self.owner = setup.drop_to
        """The server's user id, if it differs from this process's."""
        if level == "landlock" and landlock_version() < SCOPES:
            raise BoxError(f"Landlock {landlock_version()} is too old, {SCOPES} is needed")
        self._asking = Lock()
        ours, theirs = socket.socketpair()
        self._control = ours
        ours.settimeout(_START)
        try:
            command = _command(level, theirs.fileno())
            self._process = _LAUNCHER.submit(_launch, command, theirs.fileno()).result()
        except OSError as error:
            ours.close()
            raise BoxError(str(error)) from None
        finally:
            theirs.close()
        try:
            self._greet(setup)
        except (OSError, BoxError) as error:
            self._process.kill()
            said = self._complaint()
            self.close()
            raise BoxError(said or str(error)) from None

    def _greet(self, setup: BoxSetup) -> None:
        wire.send(self._control, asdict(setup))
        answer = wire.receive(self._control)
        if answer is None:
            raise BoxError("it ended while it started")
        self.processes = set(usage.tree(self._process.pid))
        """The ids of the box's own processes."""
        self.divisible = bool(answer.data["divisible"])
        """Whether each run gets separate namespaces."""

    def _complaint(self) -> str:
        """The last line that the server wrote before it died."""
        stderr = self._process.stderr
        said = stderr.read(4096).decode("utf-8", "replace") if stderr else ""
        return said.strip().splitlines()[-1] if said.strip() else ""

    @property
    def reusable(self) -> bool:
        """Whether a run cannot affect the server or later runs."""
        return self.divisible or self.level == "landlock"

    @property
    def label(self) -> str:
        """The name of the isolation in results."""
        return LABELS[self.level]

    def alive(self) -> bool:
        """Whether the server still runs."""
        if self._control.fileno() < 0 or self._process.poll() is not None:
            return False
        # The server sends nothing unasked: if there is something to read, it has ended.
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        return not waiting.poll(0)

    def idle(self) -> bool:
        """Whether no run is active in the box."""
        return set(usage.tree(self._process.pid)) <= self.processes

    def ask(self, job: socket.socket, pipes: list[int], disk: int) -> None:
        """Start the keeper process of a run, with the far ends of its socket and its pipes.

        Raises:
            BoxError: The box has ended.
        """
        try:
            with self._asking:
                wire.send(self._control, {"disk": disk}, [job.fileno(), *pipes])
        except OSError as error:
            raise BoxError(f"the box is gone: {error}") from None

    def close(self) -> None:
        """End the server and all runs in the box."""
        self._control.close()
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()


def _launch(command: list[str], control: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=[control],
        env=ENVIRONMENT,
        cwd="/",
        start_new_session=sys.platform != "win32",
        umask=0o077,
    )
