"""The command line: arguments in, data on stdout, messages on stderr, an exit code out.

Exit codes: 0 done, 1 the script raised, 2 bad usage or an unreadable record or script, 3 a
difference was found, 4 a limit, a time-out or a lock, 130 interrupted. Nothing here decides how a
record moves.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Sequence

from ..errors import OutputError, QuizlogError, refusal
from ..files.process import drop_relative_entries, keep_own_rights
from ..files.regular_file import open_regular
from ..replay.process.spawn import discard, prestart
from ..text import one_line
from . import streams


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code.

    Args:
        argv: The words after the program's name. None takes those of this process, and prepares
            its standard streams, its search path and its mask for new files.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    streams.begin_command()
    try:
        if argv is None:
            keep_own_rights()
            drop_relative_entries()
            streams.prepare()
        return _run(words)
    except streams.ReaderLeft:
        return 0
    except (Exception, KeyboardInterrupt) as error:
        from .grammar import split_options

        shown = refusal(error)
        if shown is None:
            raise
        return _complain(
            shown, as_json="--json" in split_options(words)[0] and not streams.is_emitted()
        )
    finally:
        discard()


def _run(words: list[str]) -> int:
    _prestart(words)
    from .commands import parse

    arguments = parse(words)
    code: int = arguments.run(arguments)
    sys.stdout.flush()
    return code


def _complain(error: QuizlogError, *, as_json: bool) -> int:
    print(f"quizlog: {one_line(str(error))}", file=sys.stderr)
    if as_json:
        with contextlib.suppress(OutputError, streams.ReaderLeft):
            streams.emit_json({"error": error.to_dict() | {"exit_code": error.exit_code}})
            sys.stdout.flush()
    return error.exit_code


_RUN_THEIR_RECORD = {
    "rewind", "fork", "branches", "switch", "amend", "bisect", "sweep",
    "rename", "note", "delete", "restore", "steps", "export", "verify", "solve", "tui",
}  # fmt: skip
"""The commands that run their record."""
_SEED = re.compile(rb"""^[ ]*["']?seed["']?:[ ]*(-?[0-9]{1,30})[ ]*,?[ ]*\r?$""", re.M)


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
            found = _SEED.search(file.read(4096))
    except OSError:
        return
    if found:
        with contextlib.suppress(OSError):  # the command itself will meet it, and say so
            prestart(int(found[1]) % 2**32)
