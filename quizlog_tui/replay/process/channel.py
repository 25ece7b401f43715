"""quizlog's end of the socket to a quiz process; the other end is `worker.wire`.

A script can write to the socket too, so the kernel is asked which process wrote each part. Messages
are parsed by `protocol`; none of them is trusted.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterable
from struct import Struct

from .protocol import CopyRefused, Message, ProcessStarted, Violation, most_bytes, parse

_PART = 1 << 16
_FIRST = (ProcessStarted, CopyRefused)
"""The messages that a process sends first, and only once."""
_CREDENTIALS = Struct("iII")
"""Process, user and group of a sender, as Linux reports them."""
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
            socket.send_fds(self.sock, [data], list(descriptors))
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
