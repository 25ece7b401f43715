"""The script's `sys.stdout`, which tells the log what is written.

It keeps the interpreter's own buffering, so the bytes that reach descriptor 1 are exactly
those of a plain run into a pipe. Beside that, the log keeps every piece in the order in which it
was written, one entry for each `print()` call. Members are those of the `io` classes.
"""

from __future__ import annotations

import io
from _thread import get_ident  # by its name: modules are cleared before the last is written

from .log import Log
from .wire import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Why `sys.stdout` is a subclass of the interpreter's own class, with a log beside it.
#
# Wrapping the stream in an object of ours shows: libraries ask for `isinstance(io.TextIOWrapper)`,
# for `detach` and `reconfigure`, and C code writes to the descriptor. Reading the text back from
# the bytes is not enough either: where one `print()` ends and the next begins is not in them, and
# what is still in a buffer at a question is not there yet. So bytes go their usual way, with the
# same buffering, and are the truth; the log only says to which call they belong (see
# `WrittenText`).
#
# - What others write to the descriptor (C code, programs) has its place in the order only if the
#   position is looked up before each write of ours.
# - A `print()` calls `write` several times, may run code of the script that prints, and may do so
#   in several threads: pieces are collected by thread, and an outer call is cut where an inner
#   begins.
# - Where few calls still fit on the stack, the last line of a recursion was half written, as ours
#   need more of it. `print_texts` is the short way, without code of the script; see `hooks`.
# - Exit handlers and objects that go last still print, when modules are cleared already: nothing is
#   looked up in a module then, and nothing stays in a buffer once `ending` is set.
class RawOut(io.FileIO):
    """The raw stream of descriptor 1, which counts the interpreter's own bytes."""

    def __init__(self, log: Log) -> None:
        super().__init__(1, "w", closefd=False)
        self.name = "<stdout>"
        self._log = log

    def seekable(self) -> bool:
        return False  # as a pipe is

    def write(self, data: Any) -> int:
        log = self._log
        with log.lock:
            log.foreign()
            written = super().write(data)
            log.known += written or 0
            return written


class DirectOut:
    """`sys.stdout.buffer`: bytes written here are logged, then go where they always went."""

    __module__ = "_io"

    def __init__(self, buffer: Any, log: Log) -> None:
        self._buffer = buffer
        self._log = log

    def write(self, data: Any) -> int:
        with self._log.lock:
            self._log.foreign()
            written: int = self._buffer.write(data)
            self._log.wrote(bytes(data).decode("utf-8", "surrogateescape"))
            return written

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffer, name)

    def __repr__(self) -> str:
        return repr(self._buffer)


_plain_write, _plain_print = io.TextIOWrapper.write, print


class _Named(type):
    """The kind of a class whose name in error texts is another than that which it tells."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return cls.__qualname__


class Out(io.TextIOWrapper, metaclass=_Named):  # type: ignore[metaclass]
    """`sys.stdout`, as the interpreter sets it up, with a log of what is written."""

    __module__ = "_io"
    __doc__ = io.TextIOWrapper.__doc__

    def __init__(self, plain: Any, log: Log) -> None:
        raw = RawOut(log)
        buffered = isinstance(plain.buffer, io.BufferedWriter)
        super().__init__(
            io.BufferedWriter(raw) if buffered else raw,
            encoding=plain.encoding,
            errors=plain.errors,
            newline="\n",
            line_buffering=plain.line_buffering,
            write_through=plain.write_through,
        )
        self.mode = "w"  # type: ignore[misc]
        self.log = log
        self._direct = DirectOut(super().buffer, log)
        self._prints: dict[int, list[str]] = {}
        self.ending = False
        """Whether the interpreter is shutting down, so that nothing may stay in a buffer."""

    @property
    def buffer(self) -> Any:
        return self._direct

    def detach(self) -> Any:
        super().detach()
        return self._direct

    def write(self, text: str) -> int:
        if self._prints:
            pieces = self._prints.get(get_ident())
            if pieces is not None:
                count = _plain_write(self, text)
                pieces.append(text)
                return count
        with self.log.lock:
            self.log.foreign()
            count = _plain_write(self, text)
            self.log.wrote(text)
            if self.ending:
                self.flush()
            return count

    def print_texts(self, pieces: list[str], *, flush: bool) -> None:
        """Do a `print()` call that writes only these, in a shorter way."""
        log = self.log
        with log.lock:
            log.foreign()
            if self._prints:
                self._interrupt_print()
            for piece in pieces:
                _plain_write(self, piece)
            log.printed("".join(pieces))
            if flush or self.ending:
                self.flush()

    def _interrupt_print(self) -> list[str] | None:
        """Log the text of an unfinished `print()` call when another one begins inside it.

        Returns:
            The pieces of the outer call, empty from now on; None if there is none.
        """
        outer = self._prints.get(get_ident())
        if outer:
            self.log.wrote("".join(outer))
            outer.clear()
        return outer

    def print_call(self, *args: Any, **options: Any) -> None:
        """Do one `print()` call; all that it writes is one entry."""
        me = get_ident()
        with self.log.lock:
            self.log.foreign()
        outer = self._interrupt_print()
        pieces = self._prints[me] = []
        try:
            _plain_print(*args, **options)
        finally:
            if outer is None:
                del self._prints[me]
            else:
                self._prints[me] = outer
            with self.log.lock:
                self.log.printed("".join(pieces))
                if self.ending:
                    self.flush()

    def prompt(self, text: str) -> None:
        """Write a prompt to stdout, and log it as the question."""
        with self.log.lock:
            _plain_write(self, text)
            self.log.asked.append(quote(text))
            self.flush()

    def reconfigure(self, **options: Any) -> None:
        super().reconfigure(**options)
        if not {"encoding", "errors", "newline"}.isdisjoint(options):
            newline = options.get("newline") or ""
            self.log.writing = f"[{quote(self.encoding)}, {quote(newline)}]"


type.__dict__["__name__"].__set__(Out, "_io.TextIOWrapper")
Out.__qualname__ = "TextIOWrapper"
DirectOut.__name__ = DirectOut.__qualname__ = "BufferedWriter"
