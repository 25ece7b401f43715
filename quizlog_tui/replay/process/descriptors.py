"""Opens the descriptors that connect quizlog and a quiz process.

Imports next to nothing, as every start needs it.
"""

from __future__ import annotations

import _socket
import os


class DescriptorGroup:
    """Descriptors that are opened together: if one cannot be opened, all are closed."""

    def __init__(self) -> None:
        self._fds: list[int] = []

    def __enter__(self) -> DescriptorGroup:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            for fd in self._fds:
                os.close(fd)

    def empty_file(self) -> int:
        """An empty pipe. Not a device, as a script could change the mode of that."""
        reader, writer = os.pipe()
        os.close(writer)
        return self._add(reader)

    def files(self) -> tuple[int, int]:
        """Files for the process's stdout and stderr."""
        return self._add(_capture("stdout")), self._add(_capture("stderr"))

    def sockets(self, *, least: int = 0) -> tuple[int, int]:
        """A pair of sockets: our end, which reports senders, and the process's end.

        Args:
            least: The lowest descriptor number for the process's end.
        """
        import fcntl

        ours, theirs = _socket.socketpair()
        try:
            if hasattr(_socket, "SO_PASSCRED"):
                ours.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
            end = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, least)
            return self._add(ours.detach()), self._add(end)
        finally:
            ours.close()
            theirs.close()

    def _add(self, fd: int) -> int:
        self._fds.append(fd)
        return fd


def _capture(name: str) -> int:
    """A file without a name for a stream, so that a position in it is a moment in time."""
    import fcntl

    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(f"quizlog-{name}", os.MFD_CLOEXEC)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
    return fd
