"""quizlog's end of the socket to a quiz process. The other end is `worker.wire`."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterable
from typing import Any


def packed(fields: Iterable[bytes]) -> bytes:
    """A message to the quiz: a length, then each field with its length."""
    body = b"".join([len(field).to_bytes(4, "little") + field for field in fields])
    return len(body).to_bytes(4, "little") + body


class Channel:
    """One stream of messages, over a connected socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
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

    def receive(self) -> Any | None:
        """Take what has arrived; a whole message, or None while it is incomplete.

        Raises:
            EOFError: The quiz process closed its end.
        """
        part = self.sock.recv(65536)
        if not part:
            raise EOFError
        self._buffer += part
        return self.pending()

    def pending(self) -> Any | None:
        """A whole message that has arrived already, or None."""
        buffer = self._buffer
        if len(buffer) < 4:
            return None
        end = 4 + int.from_bytes(buffer[:4], "little")
        if len(buffer) < end:
            return None
        message = json.loads(buffer[4:end])
        del buffer[:end]
        return message

    def gather(self) -> bool:
        """Take what has arrived, without blocking; an end is left for `receive` to find."""
        part = b""
        with contextlib.suppress(OSError):
            part = self.sock.recv(65536, socket.MSG_DONTWAIT)
        self._buffer += part
        return bool(part)

    def gather_all(self) -> bool:
        """Take all that has arrived, without blocking; whether a whole message is among it."""
        while not self.holds(b"") and self.gather():
            pass
        return self.holds(b"")

    def holds(self, start: bytes) -> bool:
        """Whether a whole message has arrived whose JSON begins so."""
        buffer = self._buffer
        whole = len(buffer) >= 4 and len(buffer) >= 4 + int.from_bytes(buffer[:4], "little")
        return whole and buffer.startswith(start, 4)

    def close(self) -> None:
        """Close the socket; the quiz process notices and ends."""
        self.sock.close()
