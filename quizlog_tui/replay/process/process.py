"""One quiz process: starts or copies it, gives it answers, receives its reports, and ends it.

Enforces the limits. Knows nothing of transcripts, records or caches.
"""

from __future__ import annotations

import _socket as socket  # `socket` itself makes enumerations of its constants, at each start
import contextlib
import os
import select
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...config import Config
from ...errors import (
    CancelledError,
    IsolationError,
    LimitError,
    MachineError,
    ProtocolError,
    QuizlogError,
)
from ..script.interpreter import OWN
from ..script.needed_files import private_files
from ..script.source import Source
from ..world import UNAVAILABLE_BY_FOLDER, UNAVAILABLE_BY_ISOLATION, World
from .channel import MAX_UNREPORTED, CapturedOutput, Channel, WrittenText
from .family import Deadline, Family, shared_by
from .protocol import (
    CodeRun,
    CopyRefused,
    IsolationFailed,
    IsolationReport,
    Looked,
    Message,
    ProcessStarted,
    RawStep,
    SharedWrite,
    Violation,
    WorkerReport,
    check_prompts,
)
from .spawn import DescriptorGroup, take

_WATCH_MILLISECONDS = 50
_COPY_SECONDS = 10.0
"""Seconds after which a copy that has not started is done without."""
_LAST_WORD_SECONDS = 5.0
"""Seconds for which a process that is being ended may still say what must be known of it."""
_MEGA = 1024 * 1024
_RAISE = "look for an endless loop, or raise the limit"
_DOCTOR = "see what `quizlog doctor` says"
E = TypeVar("E", bound=QuizlogError)


@dataclass(frozen=True)
class Limits:
    """Bounds on a running script; 0 means none."""

    seconds: float = 30.0
    """Seconds from an answer to the next stop, without those in which the machine ran others."""
    output: int = 10 * 1024 * 1024
    """Bytes written to stdout and stderr from an answer to the next stop."""
    memory: int = 2 * 1024 * 1024 * 1024
    """Bytes of data of the script's process, and of all processes together that it started."""
    processes: int = 256
    """Maximum number of concurrent processes that it started, and of threads."""


def user_limits(config: Config) -> Limits:
    """The bounds in the user's settings."""
    return Limits(
        config.limits_seconds,
        config.limits_output_mb * _MEGA,
        config.limits_memory_mb * _MEGA,
        config.limits_processes,
    )


class QuizProcess:
    """A script that is running, or waiting inside a question. See `start` and `copy`."""

    def __init__(
        self, family: Family, limits: Limits, name: str, control: int, out: int, err: int
    ) -> None:
        self.family = family
        self.output = CapturedOutput(out, err, limits.output)
        self.written = WrittenText()
        self._limits = limits
        self._name = name
        self._cancelled = False
        self._midway = False
        """Whether it is between two stops."""
        self._began = False
        """Whether it has reached the script."""
        self._stops = 0
        """Number of questions it has asked."""
        self._looks: list[str] | None = None
        """Answers to requests to look; None if there were no requests."""
        self._most_looks = 0
        self.pid: int | None = None
        self.exit_code: int | None = None
        self.refused: str | None = None
        self.taint: str | None = None
        self.observed: tuple[str, ...] = ()
        """Observations about the run; see `world.UNVERIFIABLE` and `world.REMARKABLE`."""
        self.seen: tuple[str, ...] = ()
        """What it reached for up to its last report, and the process of which it is a copy."""
        self.unavailable: tuple[str, ...] = ()
        """What this system cannot fix; see `world.UNAVAILABLE`."""
        self._channel = Channel(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, control))
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(family, select.POLLIN)
        family.join()

    @classmethod
    def start(
        cls,
        source: Source,
        world: World,
        limits: Limits,
        files_folder: str = "",
        *,
        waits: bool = False,
    ) -> QuizProcess:
        """A fresh process that begins to run a script: exactly the bytes of `source`.

        Args:
            source: The script.
            world: The world of the script.
            limits: Bounds on the script.
            files_folder: The folder for the files that it writes; empty to discard them.
            waits: Whether it begins only when it is given an empty list of answers.
        """
        alike, network = "addresses" not in world.changed, "real-network" in source.allowed
        program = "" if source.interpreter == OWN else source.interpreter.program
        spawned = take(world.hash_seed, alike=alike, network=network, program=program)
        family, name = Family(spawned), source.path.name
        process = cls(family, limits, name, spawned.control, spawned.out, spawned.err)
        process.unavailable = () if spawned.alike or not alike else ("addresses",)
        process.family.bound(limits.processes, limits.memory)
        process.family.closed = "starts" in world.changed
        process._send(_job_fields(source, world, limits, files_folder, waits=waits))
        return process

    def copy(self) -> QuizProcess | None:
        """Copy this waiting process, which stays as it is; None if too many files are open.

        The copy can be given answers at once. If it turns out to be impossible, it has a `refused`
        reason once `settle` or `reports` was called.
        """
        try:
            with DescriptorGroup() as group:
                (out, err), (control, inner) = group.files(), group.sockets()
        except OSError:
            return None
        self._look_at_seen()
        copy = QuizProcess(self.family, self._limits, self._name, control, out, err)
        copy.observed, copy.unavailable, copy._stops = self.observed, self.unavailable, self._stops
        copy._began, copy.seen, copy.written = True, self.seen, self.written.copy()
        if shared := shared_by(self.seen):
            copy._mark_lost(self.taint or shared)
        elif not self._send([b"copy"], [inner, out, err]):
            copy._mark_lost()
        os.close(inner)
        return copy

    def _mark_lost(self, why: str = "the process to copy is gone") -> None:
        """Note that the process never reported itself: it did not start, or could not be copied."""
        self.exit_code, self.refused = -9, why if self._began else self.refused

    def _look_at_seen(self) -> None:
        """Bring `seen` up to date; see `Family.seen`."""
        if found := self.family.seen(self.pid):
            self.seen = tuple(dict.fromkeys((*self.seen, *found)))

    @property
    def alive(self) -> bool:
        """Whether it can still be given answers."""
        return self.exit_code is None

    @property
    def spoiled(self) -> bool:
        """Whether another process may have changed the folder that it sees."""
        return bool(self.family.writers - {self.pid})

    def answer(self, answers: Iterable[str], pause_after: float = 0.0) -> None:
        """Give answers; `reports` yields the stops that they lead to.

        Args:
            answers: The answers; none to continue after a pause.
            pause_after: Seconds of work after which it pauses at a question, answers left or not.
        """
        fields = [b"%d" % int(pause_after * 1e6)]
        fields += [answer.encode("utf-8", "surrogatepass") for answer in answers]
        self._midway = True
        self._send(fields)

    def look(self, code: Sequence[bytes], request: str) -> None:
        """Run code of ours beside the script, while it waits. Only for a process to throw away.

        Args:
            code: Python sources of `carry_out(request)`, `at_end()` and `answer()`, each beginning
                with a docstring, or their byte code by `marshal`; run at the first look only.
            request: What `carry_out` gets. See `looks` for what it sends.
        """
        self._looks = self._looks or []
        self._most_looks = len(self._looks) + 2  # its answer, and one at the end of the script
        self._send([b"look", request.encode("utf-8", "surrogatepass"), *code])

    def looks(self, count: int) -> list[str]:
        """Wait until the requests to look were answered this many times, and return all answers.

        There are fewer if the process has ended before. Raises what `reports` raises.
        """
        deadline = Deadline(self._limits.seconds)
        while len(self._looks or ()) < count and self.alive:
            self._next_report(deadline, stop_at=Looked)
        if len(self._looks or ()) < count:
            self.family.writers.add(self.pid)  # nobody knows what the script's own code wrote
        return self._looks or []

    def _send(self, fields: list[bytes], descriptors: Iterable[int] = ()) -> bool:
        """Send a message; False if the process is gone, which `reports` will show."""
        try:
            self._channel.send(fields, descriptors)
        except OSError:
            return False
        return True

    def settle(self) -> bool:
        """Wait until a copy was made, was refused or is late; return whether it was made."""
        deadline = Deadline(_COPY_SECONDS)
        while self.pid is None and self.refused is None and self.alive:
            try:
                self._next_report(deadline, stop_at=ProcessStarted)
            except LimitError:
                if not deadline.was_over:
                    raise
        return self.alive and self.refused is None

    def reports(self) -> Iterator[WorkerReport | CodeRun]:
        """The reports of the script up to its next stop or its end.

        A report of code that is run comes before the reports of its effects.

        Raises:
            LimitError: The script exceeded a limit and was ended.
            ProtocolError: It sent an impossible message and was ended.
            CancelledError: `cancel` was called, and the script was ended.
        """
        deadline = Deadline(self._limits.seconds, fresh=not self._began)
        while (report := self._next_report(deadline)) is not None:
            yield report
            if isinstance(report, CodeRun):
                continue
            if report.kind in ("asking", "paused"):
                return
            deadline = Deadline(self._limits.seconds)

    def _next_report(
        self, deadline: Deadline, *, stop_at: type[ProcessStarted] | type[Looked] | None = None
    ) -> WorkerReport | CodeRun | None:
        """The next report; None if the process has ended or was refused."""
        while True:
            message = self._pending()
            if message is None and self.alive:
                message = self._wait_for_message()
            if isinstance(message, WorkerReport):
                self._apply_report(message)
                return message
            if message is not None:
                self._handle_notice(message)
            if self.refused is not None:
                return None
            if message is None and not self.alive:
                if not self._began:
                    raise _not_started(self._name, self.output.stderr(0))
                return None
            if self.alive and not isinstance(message, ProcessStarted):  # which comes but once
                self._check_limits(deadline)
            if isinstance(message, CodeRun):
                return message
            if stop_at is not None and isinstance(message, stop_at):
                return None

    def _pending(self) -> Message | None:
        """The next message if it has arrived completely; it must be from this process."""
        try:
            return self._channel.pending(lambda: self.output.size)
        except Violation as violation:
            raise self.end_for_violation(violation) from violation

    def end_for_violation(self, violation: Violation) -> ProtocolError:
        """End the process because of an impossible message; return the error to raise."""
        step = max(0, self._stops - 1)
        return self._end_for(_protocol_broken(self._name, step, violation))

    def _end_for(self, error: E) -> E:
        """End the process; return the error to raise."""
        self.close()
        return error

    def _handle_notice(self, message: Message) -> None:
        """Handle a message that reports no steps."""
        if isinstance(message, ProcessStarted):
            self.pid = self._channel.sender or message.number
            self.family.add(self.pid)
        elif isinstance(message, IsolationReport):
            if self._began:
                raise self.end_for_violation(Violation("it reported its isolation twice"))
            if message.isolation not in UNAVAILABLE_BY_ISOLATION:
                raise self.end_for_violation(Violation("it reported an unknown isolation"))
            self._began = True
            self.unavailable += (
                UNAVAILABLE_BY_FOLDER[message.folder] + UNAVAILABLE_BY_ISOLATION[message.isolation]
            )
        elif isinstance(message, SharedWrite):
            self.family.writers.add(self.pid)
        elif isinstance(message, IsolationFailed):
            raise self._end_for(_not_isolated(self._name, message.reason))
        elif isinstance(message, Looked):
            if self._looks is None or len(self._looks) == self._most_looks:
                raise self.end_for_violation(Violation("it answered what it was not asked"))
            self._looks.append(message.text)
        elif isinstance(message, CopyRefused):
            self.refused = message.reason
            self.close()

    def _apply_report(self, report: WorkerReport) -> None:
        """Check a report, and store what it says about the process."""
        try:
            check_prompts(report)
            self.output.check(report.steps)
            if self.observed and not set(self.observed).issubset(report.observed):
                raise Violation("it withdrew an observation")
        except Violation as violation:
            raise self.end_for_violation(violation) from violation
        self._midway = report.kind == "working"
        self._count_output(report.steps)
        self._look_at_seen()
        self.taint = report.taint or shared_by(self.seen)
        if len(report.observed) != len(self.observed):
            self.observed = tuple(report.observed)
        if self.taint is not None and ("folder" in self.unavailable or "strayed" in self.observed):
            self.family.writers.add(self.pid)

    def _wait_for_message(self) -> Message | None:
        """Wait a moment for a message; None if none has arrived completely."""
        if self._channel.receive_soon():  # a single system call if that suffices
            return self._pending()
        ready = [fd for fd, _ in self._poll.poll(_WATCH_MILLISECONDS)]
        if (control := self._channel.sock.fileno()) in ready:
            try:
                self._channel.receive()
                return self._pending()
            except (EOFError, OSError):
                self._poll.unregister(control)
                if self.pid is None:
                    self._mark_lost()
                    return None
        if self.family.fileno() in ready:
            self.family.listen()
        if (code := self.family.status(self.pid)) is not None:
            self._look_at_seen()
            self._channel.drain()
            self.exit_code = code
            if self.family.exceeded:
                raise _started_too_much(self._name, self._limits, self.family.exceeded)
            return self._pending()
        return None

    def _check_limits(self, deadline: Deadline) -> None:
        """Enforce the limits; called after each wait, and for each message that is not a report."""
        if self.output.floods() and not self._channel.gather_all():
            raise self._end_for(_wrote_too_much(self._name, self._limits))
        self.family.check_bounds()
        if self._cancelled:
            raise self._end_for(_stopped(self._name))
        if deadline.is_over(lambda: self.family.seconds_waited(self.pid)):
            raise self._end_for(_took_too_long(self._name, self._limits))

    def _count_output(self, steps: list[RawStep]) -> None:
        """Check each step against the limit of output."""
        self._stops += len(steps)
        if self.output.full:
            raise self._end_for(_file_full(self._name))
        for step in steps:
            if not self.output.stop(step.out_end + step.err_end):
                raise self._end_for(_wrote_too_much(self._name, self._limits))

    def cancel(self) -> None:
        """Make a running `reports` of another thread raise `CancelledError` soon."""
        self._cancelled = True

    def close(self) -> None:
        """End the process and those it started; its output can still be read."""
        if self.exit_code is None:
            self.exit_code = -9
            if self.pid is None and self.refused is None:
                self._learn_pid()
            if self.pid is not None:
                self.family.kill(self.pid)
                if self._midway and self.family.shared:
                    self._await_shared_write()

    def _await_shared_write(self) -> None:
        """Wait for the end of a process, to learn whether it wrote to a shared folder."""
        with contextlib.suppress(OSError, EOFError, ProtocolError):
            self._channel.sock.settimeout(_LAST_WORD_SECONDS)
            while True:
                if isinstance(self._next_message(), SharedWrite):
                    self.family.writers.add(self.pid)

    def _learn_pid(self) -> None:
        """Learn the number of a process that was just made, so that it can be killed."""
        with contextlib.suppress(OSError, EOFError, ProtocolError):
            self._channel.sock.settimeout(_LAST_WORD_SECONDS)
            if isinstance(message := self._next_message(), ProcessStarted):
                self._handle_notice(message)

    def _next_message(self) -> Message:
        """The next message; waits for it."""
        while (message := self._pending()) is None:
            self._channel.receive()
        return message

    def release(self) -> None:
        """End the process and close its files; the last of its family also ends the guard."""
        self.close()
        if self.output.close():
            self._channel.close()
            self.family.leave(self.pid, sweep=self.taint is not None)


def _job_fields(
    source: Source, world: World, limits: Limits, files_folder: str, *, waits: bool = False
) -> list[bytes]:
    """The fields of the message, in the order in which `worker.job.Job` reads them.

    Args:
        source: The script.
        world: The world of the script.
        limits: Bounds on the script.
        files_folder: The folder for the files that it writes; empty to discard them.
        waits: Whether it waits before it begins, so that one can look at it.
    """
    start, tick = world.clock
    variables = []
    if "real-environment" in source.allowed:
        variables = [f"{name}={value}" for name, value in os.environ.items()]
    return [
        os.fsencode(source.path),
        os.fsencode(source.path.name),
        b"%d" % world.seed,
        b"%d" % limits.memory,
        b"%d" % start,
        b"%d" % tick,
        b"%d" % MAX_UNREPORTED,
        b"%d" % waits,
        os.fsencode(world.at),
        os.fsencode(files_folder),
        *map(_packed, (source.allowed, world.changed, world.hidden, private_files(source))),
        _packed(word for each in _looked_at(source) for word in each),
        _packed(variables),
        os.fsencode("".join(f"{text}\0" for text in world.args)),
        os.fsencode(source.interpreter.environment),
        source.data,
    ]


def _looked_at(source: Source) -> tuple[tuple[str, str], ...]:
    """What the run finds in the script's folder if it has a grant; empty for all that is there."""
    return source.surroundings if source.allowed else ()


def _packed(words: Iterable[str]) -> bytes:
    return os.fsencode("\0".join(words))


def _not_started(name: str, stderr: bytes) -> MachineError:
    """The interpreter ended before it ran a line of the script.

    Args:
        name: The name of the script.
        stderr: The interpreter's stderr.
    """
    last = stderr.decode(errors="replace").strip().rpartition("\n")[2]
    message = f"was not run: the interpreter ended at its start: {last or 'it was killed'}"
    hint = _DOCTOR if last else f"{_DOCTOR}, and whether a limit such as ulimit -v is too low"
    return MachineError(message, where=name, hint=hint)


def _not_isolated(name: str, reason: str) -> IsolationError:
    """The script could not be isolated from the machine."""
    return IsolationError(f"was not run: {reason}", where=name, hint=_DOCTOR)


def _protocol_broken(name: str, step: int, violation: Violation) -> ProtocolError:
    """The script sent an impossible message."""
    message = f"the script broke the protocol at step {step}: {violation}"
    hint = "it meddled with quizlog's own channel: believe nothing that it shows"
    return ProtocolError(message, where=name, hint=hint)


def _wrote_too_much(name: str, limits: Limits) -> LimitError:
    """The script wrote more than one step may."""
    message = f"wrote more than {limits.output / 2**20:g} MB without asking"
    return LimitError(message, where=name, hint=_RAISE)


def _file_full(name: str) -> LimitError:
    """The script's output reached the maximum size of a file."""
    hint = "raise that limit: ulimit -f unlimited"
    return LimitError("wrote as much as a file may hold here", where=name, hint=hint)


def _took_too_long(name: str, limits: Limits) -> LimitError:
    """The script took longer than one step may."""
    message = f"ran {limits.seconds:g} seconds without asking or ending"
    return LimitError(message, where=name, hint=_RAISE)


def _started_too_much(name: str, limits: Limits, bound: str) -> LimitError:
    """The script, or the processes it started, exceeded a bound; see `worker.family_bounds`."""
    size = f"{limits.memory / 2**30:g} GB"
    said = {
        "memory": f"started processes that hold more than {size} of memory",
        "shared": f"held more than {size} of shared memory",
        "threads": f"had more than {limits.processes} threads at a time",
        "processes": f"had more than {limits.processes} processes at a time",
    }
    hint = "start fewer at a time, or raise the limit"
    return LimitError(said[bound], where=name, hint=hint)


def _stopped(name: str) -> CancelledError:
    """The run was cancelled."""
    return CancelledError("stopped before the next question", where=name)
