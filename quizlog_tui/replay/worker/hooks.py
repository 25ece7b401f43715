"""Puts the log and the streams in place of the interpreter's: `print`, `input`, `open`, the exits.

Each replacement does what the original does, and falls back to it wherever the script has put
streams of its own in place.
"""

from __future__ import annotations

import _io
import atexit
import builtins
import contextlib
import gc
import io
import os
import sys

from . import copies
from .first_frame import MORE, Calls
from .fixed.fixed_world import FixedWorld
from .fixed.native import disguised
from .log import Log
from .standard_input import END_OF_INPUT, Answers, RawIn, gives_answers
from .streams import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
_SIMPLE = frozenset({str, int, float, bool, type(None)})
"""Types whose texts are made without code of the script."""
_OPTIONS, _TEXTS = frozenset({"sep", "end", "file", "flush"}), {str, type(None)}
_STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def install(log: Log, world: FixedWorld) -> None:
    """Put the streams, `print` and `input` in place of the interpreter's."""
    log.copy = copies.copy
    out, answers, plain_in = Out(sys.stdout, log), Answers(log.ask), sys.stdin
    stdin = io.TextIOWrapper(
        io.BufferedReader(RawIn(answers, 0, "<stdin>", owns=False)),
        encoding=plain_in.encoding,
        errors=plain_in.errors,
    )
    stdin.mode = "r"  # type: ignore[misc]
    vars(sys).update(stdout=out, __stdout__=out, stdin=stdin, __stdin__=stdin)
    builtins.print, builtins.input, io.open, os.read, os._exit = disguised(
        [
            (_print_to(out), builtins.print),
            (_input_from(out, stdin, answers), builtins.input),
            (_open_or_ask(answers, world), io.open),
            (_read_or_ask(answers), os.read),
            (_exit_telling(log), os._exit),
        ]
    )
    builtins.open = _io.open = io.open
    atexit.register(lambda: _finish(out))


def _stream(name: str) -> Any:
    """A stream of `sys`; None if the script took it away, of which the original tells."""
    return getattr(sys, name, None)


def _print_to(out: Out) -> Any:
    real = builtins.print

    def print(*args: Any, **options: Any) -> None:
        # Where few calls still fit on the stack, all of ours do or none: so no output is half done.
        calls = Calls.number
        if calls is not None:
            calls.value += MORE
        try:
            file = options.get("file")
            ours = (_stream("stdout") if file is None else file) is out
            pieces = _pieces(args, options) if ours else None
            if pieces is not None:
                out.print_texts(pieces, flush=options.get("flush", False))
                return
        finally:
            if calls is not None:
                calls.value -= MORE
        (out.print_call if ours else real)(*args, **options)

    return print


def _pieces(args: tuple[Any, ...], options: dict[str, Any]) -> list[str] | None:
    """What a `print()` call writes piece by piece; None if that takes code of the script."""
    if not options and len(args) == 1 and type(args[0]) is str:  # as most calls are
        return [args[0], "\n"]
    plain = not options or (
        _OPTIONS.issuperset(options)
        and {type(options.get("sep")), type(options.get("end"))} <= _TEXTS
        and type(options.get("flush", False)) is bool
    )
    if not plain or not _SIMPLE.issuperset(map(type, args)):
        return None
    between, end = options.get("sep"), options.get("end")
    between = " " if between is None else between
    try:
        pieces = [piece for one in args for piece in (between, str(one))][1:]
    except ValueError:  # an integer with too many digits, after other pieces were written
        return None
    return [*pieces, "\n" if end is None else end]


def _input_from(out: Out, stdin: Any, answers: Answers) -> Any:
    real = builtins.input

    def input(*args: Any, **options: Any) -> str:
        ours = _stream("stdin") is stdin and not stdin.closed and gives_answers(0)
        lost = _stream("stdout") is None or _stream("stderr") is None
        if not ours or options or len(args) > 1 or lost:
            return real(*args, **options)
        text = str(args[0]) if args else ""
        sys.stderr.flush()
        _write_prompt(out, text)
        if answers.used:
            answers.prompt = text
            return _line(stdin)
        answer = out.log.ask(text)
        if answer == END_OF_INPUT:
            raise EOFError("EOF when reading a line")
        return answer

    return input


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


def _open_or_ask(answers: Answers, world: FixedWorld) -> Any:
    """Opening what is not a file like others.

    What leads to descriptor 0 ends at the same question as `input`. The other streams are pipes to
    the script, so opening them by name begins no file anew.
    """
    real = io.open

    def open(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if type(file) is int and gives_answers(file):
            return _asking(answers, file, file, mode, *args, **options)
        if type(file) is str and file[:1] == "/":
            if file in _STDIN and gives_answers(0):
                return _asking(answers, 0, file, mode, *args, **{**options, "closefd": False})
            if file in _STREAMS:
                return real(os.dup(_STREAMS[file]), mode, *args, **options)
            if file in ("/dev/urandom", "/dev/random"):
                return world.entropy.opened(mode)
            file = world.identity.path(file)
        return real(file, mode, *args, **options)

    return open


def _asking(
    answers: Answers,
    fd: int,
    name: Any,
    mode: str,
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: object = None,
) -> Any:
    """What `open` returns for descriptor 0, or a copy of it."""
    raw = RawIn(answers, fd, name, owns=closefd)
    if "b" in mode:
        return raw if buffering == 0 else io.BufferedReader(raw)
    text = io.TextIOWrapper(io.BufferedReader(raw), encoding, errors, newline)
    text.mode = mode  # type: ignore[misc]
    return text


def _read_or_ask(answers: Answers) -> Any:
    real = os.read

    def read(fd: int, length: int, /) -> bytes:
        return answers.read(length) if gives_answers(fd) else real(fd, length)

    return read


def _exit_telling(log: Log) -> Any:
    """`os._exit`, which tells the end before it."""
    real = os._exit

    def _exit(status: int) -> Any:
        log.end(sys._getframe().f_back)
        real(status)

    return _exit


def _finish(out: Out) -> None:
    """Tell the end, after the script's own exit handlers."""
    with contextlib.suppress(OSError, ValueError):
        out.flush()
    gc.unfreeze()
    out.ending = True
    out.log.end()
