"""The command for notes on a record's steps: list them, add one."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import asdict

from ...config import NEUTRAL, QUESTION, keep_author, known_author, load_config
from ...files.paths import record_path
from ...record.feedback import VERDICTS, Feedback, matching, read
from ...record.store import RecordFile
from ...text import one_line
from ..grammar import Parser, add_wait, command
from ..json_output import emit_json
from .moves import make_move, one_move
from .show import narrate_warnings


def feedback(arguments: Namespace) -> int:
    """`quizlog feedback RECORD [K] [TEXT]`."""
    if arguments.text is not None:
        return _add(arguments)
    path = record_path(arguments.record)
    record = RecordFile(path).read()
    found = matching(
        record,
        at=arguments.step,
        branch=arguments.branch,
        verdict=arguments.verdict,
        author=arguments.author,
    )
    return _show(arguments, str(path), found)


def _add(arguments: Namespace) -> int:
    verdict = None if arguments.verdict == "none" else arguments.verdict
    author = default_author() if arguments.author is None else arguments.author
    at, text, branch = arguments.step, arguments.text, arguments.branch
    with one_move(arguments) as session:
        make_move(session, session.comment, at, text, verdict, author or None, branch=branch)
        narrate_warnings(session)
        return _show(arguments, str(session.path), read(session.record)[-1:])


def default_author() -> str:
    """The default author: from the settings or given before, else asked at a terminal."""
    known = known_author(load_config()[0])
    if known is not None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return known or NEUTRAL
    print(QUESTION, end=" ", file=sys.stderr, flush=True)
    return keep_author(sys.stdin.readline())


def _show(arguments: Namespace, path: str, found: list[Feedback]) -> int:
    if arguments.json:
        emit_json({"record": path, "feedback": [asdict(said) for said in found]})
    else:
        for said in found:
            print(feedback_line(said))
    return 0


def feedback_line(said: Feedback) -> str:
    """A note on one line: step, branch, verdict, author, time, text."""
    place = "" if said.at is None else f"step {said.at}"
    words = [place, said.branch and f"on {said.branch}", said.verdict, said.author, said.time]
    rest = [f"{key}={value}" for key, value in said.extras.items()]
    head = ", ".join(word for word in words if word)
    return one_line(": ".join(part for part in (head, " ".join([said.text, *rest])) if part))


def _feedback() -> Parser:
    about = (
        "List the notes on a record's steps, or those on step K. With TEXT, add a note there;\n"
        'an empty TEXT ("") with --verdict adds only the verdict.'
    )
    parser = command("quizlog feedback", feedback, about)
    parser.add_argument("record")
    parser.add_argument("step", metavar="K", type=int, nargs="?")
    parser.add_argument("text", metavar="TEXT", nargs="?")
    choices = [*VERDICTS, "none"]
    parser.add_argument("--verdict", choices=choices, help="the verdict to add, or to list")
    parser.add_argument("--author", help="the author to add (default: asked once), or to list")
    parser.add_argument("--branch", metavar="NAME", help="the branch (default: the active one)")
    add_wait(parser)
    return parser


PARSERS = {"feedback": _feedback}
"""The parser function of each command."""
