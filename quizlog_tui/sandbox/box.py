"""A box: a server process in isolation, which starts runs on request."""

from __future__ import annotations

import contextlib
import select
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from threading import Lock

from . import levels, usage
from .inside import wire
from .inside.shut import SCOPES, landlock_version
from .inside.wire import BoxSetup, Level

_START = 60.0
"""Seconds that a box may take to load its libraries, on a busy machine."""

# The kernel ends a box with the thread that started it, so one permanent thread starts them all.
_LAUNCHER = ThreadPoolExecutor(1, thread_name_prefix="quizlog-launcher")


class BoxError(Exception):
    """A box could not be started or has died."""


class Box:
    """A running server; thread-safe.

    Args:
        level: The isolation level.
        preload: Modules to load before any run.

    Raises:
        BoxError: It did not start.
    """

    def __init__(self, level: Level, preload: list[str]) -> None:
        self.level = level
        try:
            setup = levels.box_setup(level, preload)
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
            command = levels.command(level, theirs.fileno())
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
        return levels.LABELS[self.level]

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
        """Start the keeper process of a run.

        Args:
            job: The far end of the run's socket.
            pipes: The far ends of the pipes for answer, stdout and stderr.
            disk: Maximum number of bytes that the run may write.

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
        env=levels.ENVIRONMENT,
        cwd="/",
        start_new_session=sys.platform != "win32",
        umask=0o077,
    )
