"""Messages between the quiz process and quizlog, over one socket.

To the quiz: a length, then fields that each have a length (4 bytes, little endian): plain bytes, as
parsing JSON would need imports. From the quiz: a length and JSON text, whose strings are quoted
with the interpreter's own C function. Never touches the script's streams.
"""

from __future__ import annotations

import os
from _json import encode_basestring_ascii as quote
from os import read, write  # the originals: the script's view of `os` is patched later

__all__ = ["Wire", "quote"]


class Wire:
    """The quiz's end of the socket `fd`."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def receive(self) -> list[bytes]:
        """Block for the next message. When quizlog is gone, this process ends here."""
        body = self._exactly(int.from_bytes(self._exactly(4), "little"))
        fields, at = [], 0
        while at < len(body):
            size = int.from_bytes(body[at : at + 4], "little")
            fields.append(body[at + 4 : at + 4 + size])
            at += 4 + size
        return fields

    def send(self, text: str) -> None:
        """Send one JSON text. When quizlog is gone, this process ends here."""
        data = text.encode("ascii")
        data = len(data).to_bytes(4, "little") + data
        try:
            while data:
                data = data[write(self.fd, data) :]
        except OSError:
            os.kill(os.getpid(), 9)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            try:
                part = read(self.fd, size - len(data))
            except OSError:
                part = b""
            if not part:
                os.kill(os.getpid(), 9)
            data += part
        return data
