"""Messages between the parent and a box: JSON objects with descriptors, on a socket.

Also the parent's instructions to a box and its runs, which are sent that way. Both ends are
trusted, as no code of a run has access to them.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Level = Literal["bwrap", "landlock", "rlimits"]
"""The isolation levels, best first."""


@dataclass(frozen=True)
class BoxSetup:
    """The setup of a box."""

    level: Level
    preload: list[str]
    """Modules to import before any run; missing ones are skipped."""
    paths: list[str]
    """Folders to add to the module search path."""
    readable: list[str]
    """Paths that Landlock leaves readable."""
    drop_to: int | None
    """The user and group id to switch to if started by root."""
    mount_proc: bool
    """Whether to mount /proc before that; runs cannot remount the one that bubblewrap makes."""


@dataclass(frozen=True)
class RunSetup:
    """The limits and paths of a run. Sizes in bytes, times in seconds."""

    folder: str
    """The current folder of the code."""
    temporary: str
    cpu: int
    address_space: int
    processes: int
    file_size: int
    answer: int


_HEAD = struct.Struct("=I")
_MOST_FDS = 16
_CREDENTIALS = struct.Struct("=iII")
_SCM_CREDENTIALS = 2
"""The same number on every Linux; older Python versions do not define it."""


class _BoxMessage(NamedTuple):
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


def receive(sock: socket.socket) -> _BoxMessage | None:
    """The next message, or None at the end of the stream. Descriptors close on exec."""
    head, fds, pid = _head(sock)
    if len(head) < _HEAD.size:
        return None
    payload = _exactly(sock, _HEAD.unpack(head)[0])
    return None if payload is None else _BoxMessage(json.loads(payload), fds, pid)


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
