"""quizlog's end of the socket to a quiz process. The other end is `worker.wire`.

The kernel says with each part who wrote it; a script can write here too. Parses messages by
`protocol`, and believes none of them.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterable
from struct import Struct

from .protocol import CopyRefused, Message, ProcessStarted, Violation, parse

_PART = 1 << 16
_FIRST = (ProcessStarted, CopyRefused)
"""What a process says first, and once."""
_CREDENTIALS = Struct("iII")
"""Process, user and group of a sender, as Linux gives them."""
KNOWS_SENDERS = hasattr(socket, "SO_PASSCRED")
"""Whether this system tells who wrote to a socket."""
_ROOM = socket.CMSG_SPACE(_CREDENTIALS.size) if KNOWS_SENDERS else 0
_SOON = Struct("ll").pack(0, 5_000)
"""5 ms, in seconds and microseconds: most scripts ask again within that."""


def packed(fields: Iterable[bytes]) -> bytes:
    """A message to the quiz: a length, then each field with its length."""
    body = b"".join([len(field).to_bytes(4, "little") + field for field in fields])
    return len(body).to_bytes(4, "little") + body


class Channel:
    """One stream of messages, over a connected socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _SOON)
        self.sender: int | None = None
        """The process that wrote what has arrived; None if nothing has, or the system is silent."""
        self._senders = 0
        self._notes: list[tuple[int, int, bytes]] = []
        """What the kernel said of the last part."""
        self._silent = True
        """Whether there was no message yet."""
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
        """Take what has arrived, waiting for it as the socket is set.

        Raises:
            EOFError: The quiz process closed its end.
            OSError: Nothing arrived in time.
        """
        if not self._take():
            raise EOFError

    def receive_soon(self) -> bool:
        """Take what arrives within a moment; an end is left for `receive` to find."""
        try:  # sooner than by `contextlib.suppress`
            return self._take()
        except OSError:
            return False

    def gather(self) -> bool:
        """Take what has arrived, without blocking; an end is left for `receive` to find."""
        with contextlib.suppress(OSError):
            return self._take(socket.MSG_DONTWAIT)
        return False

    def gather_all(self) -> bool:
        """Take all that has arrived, without blocking; whether a whole message is among it."""
        while not self._holds_message() and self.gather():
            pass
        return self._holds_message()

    def drain(self) -> None:
        """Take all that the process had sent before it ended."""
        while self.gather():
            pass

    def _take(self, flags: int = 0) -> bool:
        """Take one part, and note who sent it; whether there was one."""
        if not KNOWS_SENDERS:
            part = self.sock.recv(_PART, flags)
        else:
            part, notes, _, _ = self.sock.recvmsg(_PART, _ROOM, flags)
            if part and notes != self._notes:
                self._note_sender(notes)
        self._buffer += part
        return bool(part)

    def _note_sender(self, notes: list[tuple[int, int, bytes]]) -> None:
        """Learn who wrote a part, of which the kernel says something else than of the last."""
        self._notes = notes
        for _level, kind, note in notes:
            if kind == socket.SCM_CREDENTIALS and len(note) == _CREDENTIALS.size:
                sender: int = _CREDENTIALS.unpack(note)[0]
                if sender != self.sender:
                    self.sender = sender
                    self._senders += 1

    def pending(self, most: Callable[[], int]) -> Message | None:
        """A message that has arrived whole, or None.

        Args:
            most: Tells how many bytes it may have, where it has many.

        Raises:
            Violation: What arrived is no message, or longer, or from another process.
        """
        buffer = self._buffer
        if len(buffer) < 4:
            return None
        size = int.from_bytes(buffer[:4], "little")
        if size > _PART and size > most():
            raise Violation(f"it announced a message of {size} bytes")
        if len(buffer) < 4 + size:
            return None
        data = buffer[4 : 4 + size]
        del buffer[: 4 + size]
        message = parse(data)
        self._check_turn(message)
        return message

    def _check_turn(self, message: Message) -> None:
        """A process says first, and once, whether it is there; and nobody else speaks for it."""
        first, self._silent = self._silent, False
        if isinstance(message, _FIRST) is not first:
            raise Violation("it spoke out of turn")
        if KNOWS_SENDERS and self._senders != 1:
            raise Violation("another process spoke in its place")

    def _holds_message(self) -> bool:
        """Whether a whole message has arrived."""
        buffer = self._buffer
        return len(buffer) >= 4 and len(buffer) >= 4 + int.from_bytes(buffer[:4], "little")

    def close(self) -> None:
        """Close the socket; the quiz process notices and ends."""
        self.sock.close()
