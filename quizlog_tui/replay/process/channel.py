"""What a quiz process sends: messages on a socket, and the bytes of its streams.

The other end of the socket is `worker.wire`. A script can write to the socket too, so the kernel is
asked which process wrote each part. Messages are parsed by `protocol`; none of them is trusted. Of
the streams, the bytes are the truth. A message only says where one `print()` ends and the next one
begins: text that the bytes do not confirm is replaced by the bytes. Decides no verdict.
"""

from __future__ import annotations

import _socket as socket  # `socket` itself makes enumerations of its constants, at each start
import codecs
import contextlib
import os
import resource
from collections.abc import Callable, Iterable
from struct import Struct
from typing import Any

from .protocol import CopyRefused, Message, ProcessStarted, RawStep, Violation, most_bytes, parse

_PART = 1 << 16
_FIRST = (ProcessStarted, CopyRefused)
"""The messages that a process sends first, and only once."""
_CREDENTIALS = Struct("iII")
"""Process, user and group of a sender, as Linux reports them."""
_DESCRIPTOR = Struct("i")
_KNOWS_SENDERS = hasattr(socket, "SO_PASSCRED")
"""Whether this system reports who wrote to a socket."""
_ROOM = socket.CMSG_SPACE(_CREDENTIALS.size) if _KNOWS_SENDERS else 0
_SOON = Struct("ll").pack(0, 5_000)
"""5 ms, in seconds and microseconds: most scripts ask again within that."""


def packed(fields: Iterable[bytes]) -> bytes:
    """A message to the quiz process: a length, then each field with its length."""
    body = b"".join([len(field).to_bytes(4, "little") + field for field in fields])
    return len(body).to_bytes(4, "little") + body


class Channel:
    """One stream of messages, over a connected socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _SOON)
        self.sender: int | None = None
        """The process that wrote the received parts; None if it is not known."""
        self._senders = 0
        self._notes: list[tuple[int, int, bytes]] = []
        """The kernel's data about the last part."""
        self._silent = True
        """Whether no message has arrived yet."""
        self._buffer = bytearray()  # grows in place: a step may hold many megabytes

    def send(self, fields: Iterable[bytes], descriptors: Iterable[int] = ()) -> None:
        """Send one message, with descriptors if there are any.

        Raises:
            OSError: The quiz process is gone.
        """
        data = packed(fields)
        if descriptors:
            rights = b"".join(map(_DESCRIPTOR.pack, descriptors))
            self.sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        else:
            self.sock.sendall(data)

    def receive(self) -> None:
        """Receive what has arrived, and wait for it up to the time-out of the socket.

        Raises:
            EOFError: The quiz process closed its end.
            OSError: Nothing arrived in time.
        """
        if not self._take():
            raise EOFError

    def receive_soon(self) -> bool:
        """Receive what arrives within 5 ms. `receive` reports an end of the stream."""
        try:  # faster than `contextlib.suppress`
            return self._take()
        except OSError:
            return False

    def gather(self) -> bool:
        """Receive what has arrived, without blocking. `receive` reports an end of the stream."""
        with contextlib.suppress(OSError):
            return self._take(socket.MSG_DONTWAIT)
        return False

    def gather_all(self) -> bool:
        """Receive all that has arrived, without blocking; return whether it has a whole message."""
        while not self._holds_message() and self.gather():
            pass
        return self._holds_message()

    def drain(self) -> None:
        """Receive all that the process sent before it ended."""
        while self.gather():
            pass

    def _take(self, flags: int = 0) -> bool:
        """Receive one part and note its sender; return whether there was one."""
        if not _KNOWS_SENDERS:
            part = self.sock.recv(_PART, flags)
        else:
            part, notes, _, _ = self.sock.recvmsg(_PART, _ROOM, flags)
            if part and notes != self._notes:
                self._note_sender(notes)
        self._buffer += part
        return bool(part)

    def _note_sender(self, notes: list[tuple[int, int, bytes]]) -> None:
        """Note the sender of a part whose kernel data differ from those of the last one."""
        self._notes = notes
        for _level, kind, note in notes:
            if kind == socket.SCM_CREDENTIALS and len(note) == _CREDENTIALS.size:
                sender: int = _CREDENTIALS.unpack(note)[0]
                if sender != self.sender:
                    self.sender = sender
                    self._senders += 1

    def pending(self, written: Callable[[], int]) -> Message | None:
        """The next message if it has arrived completely, or None.

        Args:
            written: Returns the number of bytes that the script wrote; called only for long
                messages.

        Raises:
            Violation: It is not a message, too long, or from another process.
        """
        buffer = self._buffer
        if len(buffer) < 4:
            return None
        size = int.from_bytes(buffer[:4], "little")
        known = written() if size > _PART else 0
        if size > most_bytes(known):
            raise Violation(f"it sent a message of {size} bytes, which is too long")
        if len(buffer) < 4 + size:
            return None
        data = buffer[4 : 4 + size]
        del buffer[: 4 + size]
        message = parse(data, known)
        self._check_turn(message)
        return message

    def _check_turn(self, message: Message) -> None:
        """Check that only the first message reports the start, and that nobody else sends."""
        first, self._silent = self._silent, False
        if isinstance(message, _FIRST) is not first:
            raise Violation("it sent a message out of turn")
        if _KNOWS_SENDERS and self._senders != 1:
            raise Violation("another process sent messages in its place")

    def _holds_message(self) -> bool:
        """Whether a message has arrived completely."""
        buffer = self._buffer
        return len(buffer) >= 4 and len(buffer) >= 4 + int.from_bytes(buffer[:4], "little")

    def close(self) -> None:
        """Close the socket; the quiz process notices and ends."""
        self.sock.close()


MAX_UNREPORTED = 1 << 20
"""Maximum bytes of output of answered questions that the process need not report at once."""
_MOST_UNWRITTEN = 1 << 16
"""Maximum bytes of text in a script's buffers at a question; each buffer holds 8 KiB."""


class CapturedOutput:
    """The files for stdout and stderr, and the positions of the last reported stop.

    Args:
        out: Descriptor of the file for stdout.
        err: Descriptor of the file for stderr.
        limit: Maximum bytes from one stop to the next; 0 for no limit.
    """

    def __init__(self, out: int, err: int, limit: int) -> None:
        self.out, self.err = out, err
        self._limit = limit
        self._reported = 0
        self._out_end = self._err_end = 0
        self._room = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        """Maximum bytes of a file on this system; negative for no bound."""

    def stop(self, size: int) -> bool:
        """Note the next stop; return whether it was reached within the limit.

        Args:
            size: Bytes in both files at the stop.
        """
        before, self._reported = self._reported, size
        return not self._limit or size - before <= self._limit

    @property
    def size(self) -> int:
        """Present number of bytes in both files."""
        return os.fstat(self.out).st_size + os.fstat(self.err).st_size

    @property
    def full(self) -> bool:
        """Whether one of the files can take no more, so that the script's writes fail."""
        if self._room == resource.RLIM_INFINITY:
            return False
        return max(os.fstat(self.out).st_size, os.fstat(self.err).st_size) >= self._room

    def check(self, steps: Iterable[RawStep]) -> None:
        """Check the positions that steps claim against the files.

        Raises:
            Violation: There are no such positions.
        """
        out_before, err_before = self._out_end, self._err_end
        for step in steps:
            at = self._out_end
            for entry in step.entries + step.asked:
                if not isinstance(entry, str):
                    if not at <= entry[0] <= entry[1] <= step.out_end:
                        raise Violation("it reported output that does not exist")
                    at = entry[1]
            if step.out_end < at or step.err_end < self._err_end:
                raise Violation("it reported output that does not exist")
            self._out_end, self._err_end = step.out_end, step.err_end
        # Positions only rise: the last one covers all; one that has not risen was checked before.
        if self._out_end != out_before:
            _check_reached(self.out, self._out_end)
        if self._err_end != err_before:
            _check_reached(self.err, self._err_end)

    def floods(self) -> bool:
        """Whether more was written than one step and the unreported ones may write."""
        return bool(self._limit) and self.size - self._reported > self._limit + MAX_UNREPORTED

    def stdout(self, start: int, end: int | None = None) -> bytes:
        """Bytes of stdout between two positions."""
        return _read(self.out, start, end)

    def stderr(self, start: int, end: int | None = None) -> bytes:
        """Bytes of stderr between two positions."""
        return _read(self.err, start, end)

    def close(self) -> bool:
        """Close the files; return whether they were open."""
        if self.out < 0:
            return False
        os.close(self.out)
        os.close(self.err)
        self.out = self.err = -1
        return True


def _check_reached(fd: int, end: int) -> None:
    """Check a claimed position against the size of a file."""
    if end > os.fstat(fd).st_size:
        raise Violation("it reported output that does not exist")


def _read(fd: int, start: int, end: int | None) -> bytes:
    size = (os.fstat(fd).st_size if end is None else end) - start
    parts = []
    while size > 0 and (part := os.pread(fd, min(size, 1 << 26), start)):
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return b"".join(parts)


class WrittenText:
    """Checks the output of one process from stop to stop."""

    def __init__(self) -> None:
        self.unwritten = b""
        """Text that was reported and has not left the process yet."""
        self.disagrees = False
        """Whether a report contradicted the bytes, and nothing explains it."""

    def copy(self) -> WrittenText:
        """The state for a copy of the process, which continues at the same stop."""
        copy = WrittenText()
        copy.unwritten, copy.disagrees = self.unwritten, self.disagrees
        return copy

    def texts(self, step: RawStep, data: bytes, writing: tuple[str, str] | None) -> tuple[str, ...]:
        """The strings written in one step, prompt excluded.

        Args:
            step: The worker's report of the step.
            data: The bytes of the step.
            writing: Encoding and newline; None unless the script changed them.
        """
        start = step.out_end - len(data)
        account = step.entries + step.asked
        texts = [entry for entry in account if isinstance(entry, str)]
        own = data if len(texts) == len(account) else _without(account, data, start)
        reported = _encoded("".join(texts), writing)
        if reported is not None and self._confirms(reported, own):
            return tuple(_strings(step.entries, data, start))
        self.unwritten = b""
        self.disagrees = self.disagrees or writing is None
        return tuple(lines(data, writing))

    def late(self, data: bytes) -> tuple[str, ...]:
        """The strings written after the worker's last report."""
        new = data.removeprefix(self.unwritten)
        self.unwritten = b""
        return tuple(lines(new))

    def _confirms(self, reported: bytes, own: bytes) -> bool:
        """Whether the bytes are as reported, except for text that waits in a buffer."""
        reported = self.unwritten + reported
        rest = reported[len(own) :]
        if not reported.startswith(own) or len(rest) > _MOST_UNWRITTEN:
            return False
        self.unwritten = rest
        return True


def _strings(entries: Iterable[Any], data: bytes, start: int) -> Iterable[str]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            yield from lines(data[entry[0] - start : entry[1] - start])


def lines(data: bytes, writing: tuple[str, str] | None = None) -> list[str]:
    """Bytes as lines of text; undecodable bytes are kept as surrogates."""
    encoding = _known(writing[0]) if writing else None
    text = data.decode(encoding or "utf-8", "surrogateescape")
    parts = text.split("\n")
    return [f"{line}\n" for line in parts[:-1]] + [line for line in parts[-1:] if line]


def _encoded(text: str, writing: tuple[str, str] | None) -> bytes | None:
    """The bytes of the interpreter's own text; None if they cannot be known."""
    encoding = "utf-8"
    if writing is not None:
        known = _known(writing[0])
        if known is None:
            return None
        encoding, newline = known, writing[1]
        text = text.replace("\n", newline) if newline else text
    try:
        return text.encode(encoding, "surrogateescape")
    except UnicodeError:
        return None


def _known(encoding: str) -> str | None:
    """The encoding if it has no state between characters; None if it has or is unknown."""
    try:
        found = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    plain = found in ("ascii", "utf-8") or found.startswith(("iso8859-", "cp125", "koi8"))
    return found if plain else None


def _without(entries: Iterable[Any], data: bytes, start: int) -> bytes:
    """The bytes of a step without those that others wrote."""
    parts, at = [], 0
    for entry in entries:
        if not isinstance(entry, str):
            parts.append(data[at : entry[0] - start])
            at = entry[1] - start
    return b"".join([*parts, data[at:]])
