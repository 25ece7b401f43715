"""The shell's door: arguments in, data on stdout, narration on stderr, an exit code out.

Exit codes: 0 done, 1 the script raised, 2 bad usage or an unreadable record or script, 3 a
difference was found, 4 a limit, a time-out or a lock, 130 interrupted. Nothing here decides how a
record moves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from ..errors import QuizlogError
from ..replay.spawn import discard
from . import early


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    early.start(words)
    try:
        from .parser import parse

        arguments = parse(words)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except QuizlogError as error:
        return _complain(error, as_json="--json" in words)
    except KeyboardInterrupt:
        print("quizlog: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader left; without this the interpreter would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    finally:
        discard()


def _complain(error: QuizlogError, *, as_json: bool) -> int:
    from ..text import one_line

    print(f"quizlog: {one_line(str(error))}", file=sys.stderr)
    if as_json:
        said = {"message": error.message, "where": error.where, "hint": error.hint}
        emit_json({"error": said | {"exit_code": error.exit_code}})
    return error.exit_code


def emit_json(data: dict[str, Any]) -> None:
    """Write the one JSON object of a command."""
    import json

    print(json.dumps({"schema_version": 1} | data))
