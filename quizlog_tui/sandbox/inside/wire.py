"""Sends messages between the parent and a box: JSON objects with descriptors, on a socket.

Both ends are trusted, as no code of a run has access to them.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

_HEAD = struct.Struct("=I")
_MOST_FDS = 16
_CREDENTIALS = struct.Struct("=iII")
_SCM_CREDENTIALS = 2
"""The same number on every Linux; older Python versions do not define it."""


class BoxMessage(NamedTuple):
    """One message."""

    data: dict[str, Any]
    fds: list[int]
    pid: int | None
    """The sender's process id as seen by the receiver, if the socket passes credentials."""


def send(sock: socket.socket, data: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send one message, with at most sixteen descriptors."""
    payload = json.dumps(data).encode()
    socket.send_fds(sock, [_HEAD.pack(len(payload))], list(fds))
    sock.sendall(payload)


def receive(sock: socket.socket) -> BoxMessage | None:
    """The next message, or None at the end of the stream. Descriptors close on exec."""
    head, fds, pid = _head(sock)
    if len(head) < _HEAD.size:
        return None
    payload = _exactly(sock, _HEAD.unpack(head)[0])
    return None if payload is None else BoxMessage(json.loads(payload), fds, pid)


def _head(sock: socket.socket) -> tuple[bytes, list[int], int | None]:
    space = socket.CMSG_SPACE(_MOST_FDS * 4) + socket.CMSG_SPACE(_CREDENTIALS.size)
    head, ancillary, _, _ = sock.recvmsg(_HEAD.size, space)
    fds, pid = array.array("i"), None
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % 4])
        elif level == socket.SOL_SOCKET and kind == _SCM_CREDENTIALS:
            pid = _CREDENTIALS.unpack(data)[0]
    for fd in fds:
        os.set_inheritable(fd, False)
    return head, list(fds), pid


def _exactly(sock: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = sock.recv(size - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)
