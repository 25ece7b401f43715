"""Messages between the quiz process and quizlog, over one socket.

To the quiz: a length, then fields that each have a length (4 bytes, little endian): plain bytes, as
parsing JSON would need imports; descriptors may come with them. From the quiz: a length and JSON
text, whose strings are quoted with the interpreter's own C function. Never touches the script's
streams.
"""

from __future__ import annotations

import _socket
import _thread
from _json import encode_basestring_ascii as quote
from os import getpid, kill, write  # the originals: the script's view of `os` is patched later

__all__ = ["Wire", "quote", "send"]

_MAX_DESCRIPTORS = 3
_ROOM = _socket.CMSG_SPACE(_MAX_DESCRIPTORS * 4)


class Wire:
    """The quiz's end of the socket `fd`."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.descriptors: list[int] = []
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, fd)
        self._buffer = b""
        self._sending = _thread.allocate_lock()

    def receive(self) -> list[bytes]:
        """Block for the next message. When quizlog is gone, this process ends here."""
        buffer = self._buffer
        while len(buffer) < 4 or len(buffer) < 4 + int.from_bytes(buffer[:4], "little"):
            buffer += self._more()
        end = 4 + int.from_bytes(buffer[:4], "little")
        self._buffer = buffer[end:]
        fields, at = [], 4
        while at < end:
            size = int.from_bytes(buffer[at : at + 4], "little")
            fields.append(buffer[at + 4 : at + 4 + size])
            at += 4 + size
        return fields

    def send(self, text: str) -> None:
        """Send one JSON text. When quizlog is gone, this process ends here."""
        try:
            with self._sending:  # threads of the script may both have something to tell
                send(self.fd, text)
        except OSError:
            kill(getpid(), 9)

    def _more(self) -> bytes:
        try:
            data, extra, _, _ = self._socket.recvmsg(16384, _ROOM)
        except OSError:
            data, extra = b"", []
        if not data:
            kill(getpid(), 9)
        for _level, _kind, packed in extra:
            numbers = range(0, len(packed), 4)
            self.descriptors += [int.from_bytes(packed[i : i + 4], "little") for i in numbers]
        return data


def send(fd: int, text: str) -> None:
    """Write one message to a socket."""
    data = text.encode("ascii")
    data = len(data).to_bytes(4, "little") + data
    while data:
        data = data[write(fd, data) :]
