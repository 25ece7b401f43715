"""Holds on a record: a person lets the programs that answer it wait, until they give it back.

A hold is an abstract socket name at which the holder listens. The kernel frees it when the holder's
process ends, however that ends, and no file appears beside the record, where its script could list
it. A program that is about to move the record connects, says who it is, and waits for the end of
the connection. Only processes of the same user take part. Without abstract names, as outside Linux,
nothing can be held; containers have names of their own.
"""

from __future__ import annotations

import _socket
import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ..errors import LockedError, UsageError
from ..files.regular_file import hex_digest
from ..text import clipped, one_line

if TYPE_CHECKING:
    import socket

_MOST_WAITING = 512
"""Maximum number of programs that wait; further ones are sent on."""
_BACKLOG = 4096
"""Maximum number of programs that the holder has not seen yet."""
_INT = 4
"""Bytes of each number in what the kernel tells of a process: its id, user and group."""
_MOST_NAME = 80
"""Maximum number of characters of a program's name."""


class Hold:
    """A hold on a record, until it is released.

    Raises:
        LockedError: Somebody else holds it.
        UsageError: This system has no holds.
    """

    def __init__(self, path: Path) -> None:
        import socket

        self._waiting: dict[socket.socket, str] = {}
        try:
            self._door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except (AttributeError, OSError):
            raise _no_holds(path) from None
        try:
            self._door.bind(_name(path))
            self._door.listen(_BACKLOG)
        except OSError as error:
            self._door.close()
            raise _held_already(path) from error
        self._door.setblocking(False)

    def waiting(self) -> list[str]:
        """The names of the programs that wait, in the order in which they came."""
        with contextlib.suppress(OSError):
            while True:
                come, _ = self._door.accept()
                if len(self._waiting) < _MOST_WAITING and _user_of(come) == os.getuid():
                    come.setblocking(False)
                    self._waiting[come] = ""
                else:
                    come.close()
        for each, known in list(self._waiting.items()):
            said = _read(each)
            if said is None:
                del self._waiting[each]
                each.close()
            else:
                self._waiting[each] = known or said
        return [name for name in self._waiting.values() if name]

    def release(self) -> None:
        """Let all programs go on."""
        for each in (self._door, *self._waiting):
            each.close()
        self._waiting.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def join(path: Path, name: str) -> socket.socket | None:
    """A connection that ends when a record is given back; None if nobody holds it.

    Args:
        path: The record.
        name: Who waits, for the holder to see.

    Raises:
        LockedError: So many wait that there is no place for one more.
    """
    descriptor = _connected(path)
    if descriptor is None:
        return None
    import socket

    found = socket.socket(fileno=descriptor)
    with contextlib.suppress(OSError):  # it was given back at this moment
        if _user_of(found) == os.getuid():
            found.sendall(clipped(one_line(name), _MOST_NAME).encode())
            return found
    found.close()
    return None


def _connected(path: Path) -> int | None:
    """The descriptor of a connection to the holder of a record; None if there is none.

    `socket` takes longer to import than to ask, and nearly always nobody holds a record.
    """
    try:
        found = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    except (AttributeError, OSError):
        return None
    found.setblocking(False)  # else a full queue would hang whoever asks
    try:
        found.connect(_name(path))
    except BlockingIOError:
        found.close()
        hint = "ask again later"
        raise LockedError("too many programs wait for it", where=str(path), hint=hint) from None
    except OSError:
        found.close()
        return None
    return found.detach()


def held_too_long(path: Path, seconds: float) -> LockedError:
    """The error for a program that has waited up to its deadline."""
    hint = "ask again later; agents.hold_seconds in the settings is how long to wait"
    return LockedError(f"a person has held it for {seconds:g} s", where=str(path), hint=hint)


def wait(path: Path, connection: socket.socket, seconds: float) -> None:
    """Wait until a record is given back.

    Raises:
        LockedError: It is still held after so many seconds.
    """
    connection.settimeout(seconds)
    try:
        while connection.recv(1):
            pass
    except TimeoutError:
        raise held_too_long(path, seconds) from None
    except OSError:  # the holder has gone without reading
        return


def _name(path: Path) -> bytes:
    return b"\0quizlog-hold-" + hex_digest(os.fsencode(os.path.realpath(path)))[:32].encode()


def _read(connection: socket.socket) -> str | None:
    """What a program has said; None if it has gone."""
    try:
        data = connection.recv(4 * _MOST_NAME)
    except BlockingIOError:
        return ""
    except OSError:
        return None
    return one_line(data.decode("utf-8", "replace")) if data else None


def _user_of(connection: socket.socket) -> int:
    """The user whose process listens at the other end."""
    size = 3 * _INT
    data = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, size)
    return int.from_bytes(data[_INT : 2 * _INT], sys.byteorder)


def _no_holds(path: Path) -> UsageError:
    hint = "on Linux it could be"
    return UsageError("cannot be held on this system", where=str(path), hint=hint)


def _held_already(path: Path) -> LockedError:
    hint = "it is open in another program that holds it"
    return LockedError("is held already", where=str(path), hint=hint)
