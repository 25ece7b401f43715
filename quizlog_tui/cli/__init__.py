"""The command line: arguments in, data on stdout, messages on stderr, an exit code out.

Exit codes: 0 done, 1 the script raised, 2 bad usage or an unreadable record or script, 3 a
difference was found, 4 a limit, a time-out or a lock, 130 interrupted. Nothing here decides how a
record moves.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from ..errors import OutputError, QuizlogError, refusal
from ..files.programs import drop_relative_entries, keep_own_rights
from ..replay.process.spawn import discard
from ..text import one_line
from . import json_output, prestart, streams


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code.

    Args:
        argv: The words after the program's name. None takes those of this process, and prepares
            its standard streams, its search path and its mask for new files.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    json_output.begin_command()
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
            shown, as_json="--json" in split_options(words)[0] and not json_output.is_emitted()
        )
    finally:
        discard()


def _run(words: list[str]) -> int:
    prestart.start(words)
    from .parser import parse

    arguments = parse(words)
    code: int = arguments.run(arguments)
    sys.stdout.flush()
    return code


def _complain(error: QuizlogError, *, as_json: bool) -> int:
    print(f"quizlog: {one_line(str(error))}", file=sys.stderr)
    if as_json:
        with contextlib.suppress(OutputError, streams.ReaderLeft):
            json_output.emit_json({"error": error.to_dict() | {"exit_code": error.exit_code}})
            sys.stdout.flush()
    return error.exit_code
