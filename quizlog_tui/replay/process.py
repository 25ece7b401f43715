"""One quiz process: started or copied, fed with answers, listened to, and ended.

Speaks the wire's messages and counts the limits. Knows nothing of transcripts, records or caches.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import CancelledError, IsolationError, LimitError
from .channel import Channel
from .family import Family
from .limits import Limits
from .output import UNTOLD, Output
from .source import Source
from .spawn import capture, take
from .world import ISOLATION_LACKS, World

_WATCH_MILLISECONDS = 50
_ASKING = b'["asking"'


class QuizProcess:
    """A script that is running, or waiting inside a question. See `start` and `copy`."""

    def __init__(
        self, family: Family, limits: Limits, name: str, control: int, out: int, err: int
    ) -> None:
        self.family = family
        self.output = Output(out, err, limits.output)
        self._limits = limits
        self._name = name
        self._cancelled = False
        self._midway = False
        """Whether it is on its way between two stops."""
        self.pid: int | None = None
        self.exit_code: int | None = None
        self.refused: str | None = None
        self.taint: str | None = None
        self.met: tuple[str, ...] = ()
        """Names of what the fixed world does not hold; see `world.MET`."""
        self.lacks: tuple[str, ...] = ()
        """What of it this system lacks; see `world.LACKS`."""
        self._channel = Channel(socket.socket(fileno=control))
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(family, select.POLLIN)
        family.join()

    @classmethod
    def start(cls, source: Source, world: World, limits: Limits, kept: str = "") -> QuizProcess:
        """A fresh process that begins to run a script: exactly the bytes of `source`.

        Args:
            source: The script.
            world: What it finds.
            limits: What it may use.
            kept: A folder that takes the files it writes; empty to forget them.
        """
        alike, network = "addresses" not in world.changed, "real-network" in source.asked
        spawned = take(world.hash_seed, alike=alike, network=network)
        family, name = Family(spawned), source.path.name
        process = cls(family, limits, name, spawned.control, spawned.out, spawned.err)
        process.lacks = () if spawned.alike or not alike else ("addresses",)
        process._send(_job(source, world, limits, kept))
        return process

    def copy(self) -> QuizProcess:
        """A copy of this waiting process, which stays as it is.

        The copy may turn out to be impossible: then it has a `refused` reason once `settle` or
        `messages` was called. It can be given answers at once.
        """
        control, inner = socket.socketpair()
        out, err = capture("stdout"), capture("stderr")
        copy = QuizProcess(self.family, self._limits, self._name, control.detach(), out, err)
        copy.met, copy.lacks = self.met, self.lacks
        with inner:
            if not self._send([b"copy"], [inner.fileno(), out, err]):
                copy._lost()
        return copy

    def _lost(self) -> None:
        """The original was gone before it could make this copy."""
        self.refused = "the process to copy is gone"
        self.exit_code = -9

    @property
    def alive(self) -> bool:
        """Whether it can still be given answers."""
        return self.exit_code is None

    @property
    def spoiled(self) -> bool:
        """Whether another process may have changed the folder that it sees."""
        return bool(self.family.writers - {self.pid})

    def answer(self, answers: Iterable[str], pause_after: float = 0.0) -> None:
        """Give answers; the stops they lead to arrive through `messages`.

        Args:
            answers: May be none, to go on after a pause.
            pause_after: Pause at a question, answers left or not, after so many seconds of work.
        """
        fields = [b"%d" % int(pause_after * 1e6)]
        fields += [answer.encode("utf-8", "surrogatepass") for answer in answers]
        self._midway = True
        self._send(fields)

    def fileno(self) -> int:
        """The descriptor on which it tells."""
        return self._channel.sock.fileno()

    def asks(self) -> bool:
        """Take what has arrived, without blocking; whether it is that the script asks."""
        self._channel.gather()
        return self._channel.holds(_ASKING)

    def _send(self, fields: list[bytes], descriptors: Iterable[int] = ()) -> bool:
        """Send; False if the process is gone, which `messages` will tell."""
        try:
            self._channel.send(fields, descriptors)
        except OSError:
            return False
        return True

    def settle(self) -> bool:
        """Wait until a copy has been made, or refused; whether it was made."""
        deadline = time.monotonic() + 10
        while self.pid is None and self.refused is None and self.alive:
            self._next(deadline, stop_at_birth=True)
        return self.alive and self.refused is None

    def messages(self) -> Iterator[Any]:
        """What the script tells, up to where it stops; or to its end, after which it is not alive.

        Raises:
            LimitError: It went over a limit and was ended.
            CancelledError: `cancel` was called, and it was ended.
        """
        deadline = self._deadline()
        while (message := self._next(deadline)) is not None:
            yield message
            if message[0] in ("asking", "paused"):
                return
            deadline = self._deadline()

    def _deadline(self) -> float:
        seconds = self._limits.seconds
        return time.monotonic() + seconds if seconds else float("inf")

    def _next(self, deadline: float, *, stop_at_birth: bool = False) -> Any | None:
        """The next message about steps, or None when the process has ended or was refused."""
        while True:
            message = self._channel.pending()
            if message is None and self.alive:
                message = self._arrived()
            if message is None:
                if not self.alive:
                    return None
                self._watch(deadline)
            elif message[0] == "born":
                self._born(message[1])
                if stop_at_birth:
                    return None
            elif message[0] == "place":
                self.lacks += _FOLDER_LACKS[message[1]] + ISOLATION_LACKS[message[2]]
            elif message[0] == "straying":
                self.family.writers.add(self.pid)
            elif message[0] == "unshut":
                self.close()
                hint = "see what `quizlog doctor` says"
                raise IsolationError(f"was not run: {message[1]}", where=self._name, hint=hint)
            elif message[0] == "refused":
                self.refused = message[1]
                self.close()
                return None
            else:
                self._midway = message[0] == "working"
                self._count(message[1])
                self.taint = message[3]
                if len(message[4]) != len(self.met):
                    self.met = tuple(message[4])
                if self.taint is not None and ("folder" in self.lacks or "strayed" in self.met):
                    self.family.writers.add(self.pid)
                return message

    def _born(self, pid: int) -> None:
        self.pid = pid
        self.family.pids.add(pid)

    def _arrived(self) -> Any | None:
        """Wait a moment for something to arrive; a whole message, or None."""
        control = self._channel.sock.fileno()
        ready = [fd for fd, _ in self._poll.poll(_WATCH_MILLISECONDS)]
        if control in ready:
            try:
                return self._channel.receive()
            except (EOFError, OSError):
                self._poll.unregister(control)
                if self.pid is None:
                    self._lost()
                    return None
        if self.family.fileno() in ready:
            self.family.listen()
        code = self.family.status(self.pid)
        if code is not None:
            self._drain()
            self.exit_code = code
            return self._channel.pending()
        return None

    def _drain(self) -> None:
        """Take what the process had sent before it ended."""
        with contextlib.suppress(OSError, EOFError):
            self._channel.sock.setblocking(False)
            while True:
                part = self._channel.sock.recv(1 << 18)
                if not part:
                    return
                self._channel._buffer += part

    def _watch(self, deadline: float) -> None:
        """Nothing arrived: see to the limits."""
        if self.output.floods() and not self._channel.gather_all():
            self._flooded()
        if self._cancelled:
            self.close()
            raise CancelledError("stopped before the next question", where=self._name)
        if time.monotonic() > deadline:
            self.close()
            hint = "look for an endless loop, or raise the limit"
            message = f"ran {self._limits.seconds:g} seconds without asking or ending"
            raise LimitError(message, where=self._name, hint=hint)

    def _count(self, steps: list[Any]) -> None:
        """Hold each step against the limit of output."""
        for step in steps:
            if not self.output.stop(step[3] + step[4]):
                self._flooded()

    def _flooded(self) -> None:
        self.close()
        hint = "look for an endless loop, or raise the limit"
        message = f"wrote more than {self._limits.output / 2**20:g} MB without asking"
        raise LimitError(message, where=self._name, hint=hint)

    def cancel(self) -> None:
        """Make a `messages` that another thread is in give up soon."""
        self._cancelled = True

    def close(self) -> None:
        """End the process and those it started; what it wrote can still be read."""
        if self.exit_code is None:
            self.exit_code = -9
            if self.pid is None and self.refused is None:
                self._learn_pid()
            if self.pid is not None:
                self.family.kill(self.pid)
                if self._midway and self.family.shared:
                    self._overhear()

    def _overhear(self) -> None:
        """Wait for the end of a process that was at work: did it write what others now see?"""
        with contextlib.suppress(OSError, EOFError):
            self._channel.sock.settimeout(5)
            while True:
                message = self._channel.pending() or self._channel.receive()
                if message is not None and message[0] == "straying":
                    self.family.writers.add(self.pid)

    def _learn_pid(self) -> None:
        """A process that was just made must be known before it can be ended."""
        with contextlib.suppress(OSError, EOFError):
            self._channel.sock.settimeout(5)
            while (message := self._channel.pending() or self._channel.receive()) is None:
                pass
            if message[0] == "born":
                self._born(message[1])

    def release(self) -> None:
        """Close, and give back what was captured; the last of its family takes the guard along."""
        self.close()
        if self.output.close():
            self._channel.close()
            self.family.leave(self.pid, sweep=self.taint is not None)


_FOLDER_LACKS = {"overlay": (), "copy": ("folder",), "": ("folder", "copy")}


def _job(source: Source, world: World, limits: Limits, kept: str) -> list[bytes]:
    """The message that starts a run; its fields are those of `worker.job.Job`."""
    start, tick = world.clock
    variables = []
    if "real-environment" in source.asked:
        variables = [f"{name}={value}" for name, value in os.environ.items()]
    return [
        os.fsencode(source.path),
        os.fsencode(source.path.name),
        b"%d" % world.seed,
        b"%d" % limits.memory,
        b"%d" % start,
        b"%d" % tick,
        b"%d" % UNTOLD,
        os.fsencode(world.at),
        os.fsencode(kept),
        *(_packed(words) for words in (source.asked, world.changed, world.hidden, variables)),
        source.data,
    ]


def _packed(words: Iterable[str]) -> bytes:
    return os.fsencode("\0".join(words))
