"""Puts the log and the streams in place of the interpreter's: `print`, `input`, `open`, the exits.

Each replacement does what the original does, and falls back to it wherever the script has put
streams of its own in place.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import gc
import io
import os
import sys

from . import copies
from .fixed.fixed_world import FixedWorld
from .log import Log
from .standard_input import END_OF_INPUT, RawIn
from .streams import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


def install(log: Log, world: FixedWorld) -> None:
    """Put the streams, `print` and `input` in place of the interpreter's."""
    log.copy = copies.copy
    out = Out(sys.stdout, log)
    raw_in = RawIn(log)
    plain_in = sys.stdin
    stdin = io.TextIOWrapper(
        io.BufferedReader(raw_in),
        encoding=plain_in.encoding,
        errors=plain_in.errors,
    )
    vars(sys).update(stdout=out, __stdout__=out, stdin=stdin, __stdin__=stdin)
    _install_print(out)
    _install_input(out, stdin, raw_in)
    _install_opening(stdin, raw_in, world)
    _install_ends(out)


def _install_print(out: Out) -> None:
    real = builtins.print

    def print(*args: Any, **options: Any) -> None:
        file = options.get("file")
        if (sys.stdout if file is None else file) is not out:
            real(*args, **options)
        elif not options and set(map(type, args)) == {str}:
            out.print_texts([*[piece for text in args for piece in (" ", text)][1:], "\n"])
        else:
            out.print_call(real, args, options)

    _disguise(print, real)
    builtins.print = print


def _install_input(out: Out, stdin: Any, raw_in: RawIn) -> None:
    real = builtins.input

    def input(*args: Any, **options: Any) -> str:
        if sys.stdin is not stdin or options or len(args) > 1:
            return real(*args, **options)
        text = str(args[0]) if args else ""
        sys.stderr.flush()
        _write_prompt(out, text)
        if raw_in.used:
            raw_in.prompt = text
            return _line(stdin)
        answer = out.log.ask(text)
        if answer == END_OF_INPUT:
            raise EOFError("EOF when reading a line")
        return answer

    _disguise(input, real)
    builtins.input = input


def _write_prompt(out: Out, text: str) -> None:
    if sys.stdout is out:
        out.prompt(text)
        return
    sys.stdout.flush()
    mark = len(out.log.entries)
    sys.stdout.write(text)
    sys.stdout.flush()
    out.log.close_entry()
    out.log.asked += out.log.entries[mark:]
    del out.log.entries[mark:]


def _line(stdin: Any) -> str:
    line: str = stdin.readline()
    if not line:
        raise EOFError("EOF when reading a line")
    return line.removesuffix("\n")


def _install_opening(stdin: Any, raw_in: RawIn, world: FixedWorld) -> None:
    """Opening and reading what is not a file like others.

    `open(0)`, `open("/dev/stdin")` and `os.read(0, n)` end at the same question as `input`. The
    other streams are pipes to the script, so opening them by name begins no file anew.
    """
    real_open, real_read = io.open, os.read

    def open(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if (file == 0 and file is not False) or file == "/dev/stdin":
            return stdin.buffer if "b" in mode else stdin
        if type(file) is str and file[:1] == "/":
            if file in _STREAMS:
                return real_open(os.dup(_STREAMS[file]), mode, *args, **options)
            if file in ("/dev/urandom", "/dev/random"):
                return world.entropy.opened(mode)
            file = world.identity.path(file)
        return real_open(file, mode, *args, **options)

    def read(fd: int, length: int, /) -> bytes:
        if fd != 0:
            return real_read(fd, length)
        part = bytearray(length)
        return bytes(part[: raw_in.readinto(part)])

    _disguise(open, real_open)
    _disguise(read, real_read)
    builtins.open = io.open = open
    os.read = read


def _install_ends(out: Out) -> None:
    """Tell the end after the script's own exit handlers, and before an `os._exit`."""
    real_exit = os._exit

    def finish() -> None:
        with contextlib.suppress(OSError, ValueError):
            out.flush()
        gc.unfreeze()
        out.ending = True
        out.log.end()

    def _exit(status: int) -> Any:
        out.log.end(sys._getframe(1))
        real_exit(status)

    _disguise(_exit, real_exit)
    atexit.register(finish)
    os._exit = _exit


def _disguise(wrapper: Any, real: Any) -> None:
    wrapper.__name__ = wrapper.__qualname__ = real.__name__
    wrapper.__doc__ = real.__doc__
    wrapper.__module__ = real.__module__
