"""The command line: arguments in, data on stdout, messages on stderr, an exit code out.

Exit codes: 0 done, 1 the script raised, 2 bad usage or an unreadable record or script, 3 a
difference was found, 4 a limit, a time-out or a lock, 130 interrupted. Nothing here decides how a
record moves.
"""

from __future__ import annotations

import gc
import os
import sys

from ..files.process import drop_relative_entries, keep_own_rights, open_standard_descriptors
from ..files.regular_file import open_regular
from ..replay.process.spawn import discard, prestart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# What stands above is loaded before the quiz's interpreter is started, and so delays it: nothing
# there loads `typing`, `re`, `contextlib` or `pathlib`. The rest is loaded beside it.


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code.

    Args:
        argv: The words after the program's name. None takes those of this process, and prepares
            its standard streams, its search path and its mask for new files.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if argv is None:
            gc.disable()  # until the command is loaded
            open_standard_descriptors()
            keep_own_rights()
            drop_relative_entries()
        _prestart(words)
        return _run(words, own=argv is None)
    except (Exception, KeyboardInterrupt) as error:
        return _complain(error, words)
    finally:
        discard()
        if argv is None:
            gc.freeze()  # nor need the interpreter's last ones, through all that there is


def _run(words: list[str], *, own: bool) -> int:
    """Run a command line, in a process of its own or within another program's."""
    from . import streams

    streams.begin_command()
    if own:
        streams.prepare()
    from .commands import parse

    arguments = parse(words)
    if own:
        gc.freeze()  # what is loaded stays: no pass need go through it
        gc.enable()
    code: int = arguments.run(arguments)
    sys.stdout.flush()
    return code


def _complain(error: BaseException, words: list[str]) -> int:
    """Tell an error on one line, and as the command's object if it has none yet; the exit code."""
    from contextlib import suppress

    from ..errors import OutputError, error_data, refusal
    from ..text import one_line
    from . import streams
    from .grammar import split_options

    if isinstance(error, streams.ReaderLeft):
        return 0
    shown = refusal(error)
    if shown is None:
        raise error
    print(f"quizlog: {one_line(str(shown))}", file=sys.stderr)
    if "--json" in split_options(words)[0] and not streams.is_emitted():
        with suppress(OutputError, streams.ReaderLeft):
            streams.emit_json(error_data(shown))
            sys.stdout.flush()
    return shown.exit_code


_RUN_THEIR_RECORD = {
    "rewind", "fork", "branches", "switch", "amend", "bisect", "sweep",
    "rename", "note", "delete", "restore", "steps", "export", "verify", "solve", "tui",
}  # fmt: skip
"""The commands that run their record."""


def _prestart(words: Sequence[str]) -> None:
    """Start the quiz's interpreter while the command line is still being loaded.

    It guesses from the words and the record's text. A wrong guess costs only a process that is
    ended again. Without it a cold `quizlog RECORD` takes 1.16 times as long (measured by
    `tests/bench/readers.py`).
    """
    names = [word for word in words if not word.startswith("-")][:2]
    if not hasattr(os, "fork") or not names or "--help" in words:
        return
    try:
        with open_regular(names[names[0] in _RUN_THEIR_RECORD and len(names) > 1]) as file:
            seed = _seed_in(file.read(4096))
        if seed is not None:
            prestart(seed % 2**32)
    except OSError:
        return  # the command itself will meet it, and say so


def _seed_in(head: bytes) -> int | None:
    """The seed in the first lines of a record, if one of them holds it and nothing else."""
    for line in head.split(b"\n"):
        key, _, value = line.partition(b":")
        number = value.strip(b" ,\r")
        if key.strip(b" \"'") == b"seed" and number.removeprefix(b"-").isdigit():
            return int(number) if len(number) <= 30 else None
    return None
