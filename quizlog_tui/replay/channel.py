"""quizlog's end of the socket to a quiz process. The other end is `worker.wire`."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from typing import Any


def packed(fields: Iterable[bytes]) -> bytes:
    """A message to the quiz: a length, then each field with its length."""
    body = b"".join(len(field).to_bytes(4, "little") + field for field in fields)
    return len(body).to_bytes(4, "little") + body


class Channel:
    """One stream of messages, over a connected socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._buffer = bytearray()

    def send(self, fields: Iterable[bytes]) -> None:
        """Send one message.

        Raises:
            OSError: The quiz process is gone.
        """
        self.sock.sendall(packed(fields))

    def receive(self) -> Any | None:
        """Take what has arrived; a whole message, or None while it is incomplete.

        Raises:
            EOFError: The quiz process closed its end.
        """
        part = self.sock.recv(1 << 18)
        if not part:
            raise EOFError
        self._buffer += part
        return self.pending()

    def pending(self) -> Any | None:
        """A whole message that has arrived already, or None."""
        if len(self._buffer) < 4:
            return None
        size = int.from_bytes(self._buffer[:4], "little")
        if len(self._buffer) < size + 4:
            return None
        message = json.loads(self._buffer[4 : size + 4])
        del self._buffer[: size + 4]
        return message

    def close(self) -> None:
        """Close the socket; the quiz process notices and ends."""
        self.sock.close()
