"""Commands for the steps of a record: list them (steps), list or add notes on them (feedback)."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..config import NEUTRAL, QUESTION, keep_author, known_author, load_config
from ..files.paths import record_path
from ..record import who
from ..record.feedback import VERDICTS, Feedback, matching, read
from ..record.store import RecordFile
from ..record.who import Attribution, check_giver, every_giver, is_by, known_giver
from ..replay.transcript import Transcript
from ..session.timeline import TimelineRow, Try, timeline
from ..terminal_text import plain
from ..text import clipped, duration, one_line
from .grammar import Parser, add_by, add_wait, command
from .moves import make_move, narrate_warnings, one_move
from .streams import emit_json

_WIDTH = 40
"""Maximum width of a question or an answer in the table."""


def _run_steps(arguments: Namespace) -> int:
    """`quizlog steps RECORD`."""
    with one_move(arguments) as session:
        narrate_warnings(session)
        name = arguments.branch or session.record.branch
        whole = session.transcript_of(name)
        rows: Sequence[TimelineRow] = timeline(whole, session.record, name)
        if arguments.by is not None:
            rows = _given_by(rows, every_giver(session.record, name), arguments.by)
        givers = who.on_branch(session.record, name)
        if arguments.json:
            data = {"record": str(session.path), "branch": name, "pointer": session.pointer}
            end = {"status": whole.status, "score": whole.score}
            emit_json(data | end | {"steps": [_plain(row, givers) for row in rows]})
        else:
            for line in _lines(rows, whole, givers):
                print(line)
        return 0


def _steps() -> Parser:
    details = (
        "List each step of a branch: question, answer, how long the script took, line and kind.\n"
        "Below it: notes (-), and branches with another answer there (/)."
    )
    parser = command(
        "steps",
        _run_steps,
        group="look",
        arguments="RECORD",
        about="list all steps: question, answer, time, notes",
        details=details,
        example="adventure",
    )
    parser.add_argument("record")
    parser.add_argument("--branch", metavar="NAME", help="default: the active one")
    add_by(parser, "only answers by this name, kind or door")
    return parser


def _given_by(
    rows: Sequence[TimelineRow], givers: Sequence[Attribution], wanted: str
) -> list[TimelineRow]:
    """The rows whose answers a giver gave.

    Raises:
        UsageError: Nobody of this kind, name or door gave an answer.
    """
    check_giver(wanted, givers)
    pairs = zip(rows, givers, strict=False)  # a run may have ended before its last answers
    return [row for row, given in pairs if row.answer is not None and is_by(given, wanted)]


def _plain(row: TimelineRow, givers: Mapping[int, Attribution]) -> dict[str, Any]:
    given = givers.get(row.at)
    return {
        "at": row.at,
        "prompt": row.question,
        "answer": row.answer,
        "used": row.used,
        "seconds": round(row.seconds, 6),
        "line": row.line,
        "place": row.step.place or None,
        "input_type": row.kind,
        "code": row.code,
        "tell_tales": [tale.to_dict() for tale in row.tales],
        "who": given.to_dict() if given else None,
        "notes": [asdict(said) for said in row.notes],
        "tries": [asdict(one) for one in row.tries],
    }


def _lines(
    rows: Sequence[TimelineRow], whole: Transcript, givers: Mapping[int, Attribution]
) -> Iterator[str]:
    """A row for each stop; below it its notes and other attempts."""
    count = len(str(len(whole.steps) + 1))
    asked = max((len(_asked(row)) for row in rows), default=0)
    answered = max((len(_cell(row.answer)) for row in rows), default=0)
    for row in rows:
        mark = " " if row.used or row.answer is None else "·"
        yield (
            f"{mark}{row.at:{count}}  {_cell(plain(row.question or '')):{asked}}  "
            f"{_said(row, whole):{answered}}  {_facts(row, givers.get(row.at))}"
        ).rstrip()
        for tale in row.tales:
            yield f" {'':{count}}  ! {tale.says}: {tale.evidence}"
        for said in row.notes:
            yield f" {'':{count}}  - {_feedback_line(said)}"
        for one in row.tries:
            yield f" {'':{count}}  / {_tried(one)}"


def _cell(text: str | None) -> str:
    return clipped(one_line((text or "").strip()), _WIDTH)


def _asked(row: TimelineRow) -> str:
    return _cell(plain(row.question or ""))


def _said(row: TimelineRow, whole: Transcript) -> str:
    if row.answer is not None:
        return _cell(row.answer) or "(empty)"
    score = "" if whole.score is None else f", score {whole.score:g}"
    return f"{whole.status}{score}"


def _facts(row: TimelineRow, given: Attribution | None) -> str:
    line = "" if row.line is None else f"  line {row.line}"
    line += f" ({one_line(row.step.place)})" if row.step.place else ""
    kind = "" if row.kind is None else f"  {row.kind}"
    seconds = row.seconds
    took = duration(seconds) if seconds >= 1 else f"{seconds * 1000:.1f} ms"
    who_gave = known_giver(given)
    giver = f"  {who_gave}" if who_gave else ""
    return f"{took:>9}{line}{kind}{giver}"


def _tried(one: Try) -> str:
    answer = "no answer" if one.answer is None else _cell(one.answer) or "(empty)"
    score = "" if one.score is None else f", score {one.score:g}"
    return f"{one_line(one.branch)}: {answer}, {one.status or 'not replayed'}{score}"


def _run_feedback(arguments: Namespace) -> int:
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


def _feedback() -> Parser:
    parser = command(
        "feedback",
        _run_feedback,
        group="look",
        arguments="RECORD [K] [TEXT]",
        about="list the notes on steps, or add one",
        details=(
            "List the notes on a record's steps, or those on step K. With TEXT, add a note there;\n"
            'an empty TEXT ("") with --verdict adds only the verdict.'
        ),
        example='adventure 5 "an old riddle" --verdict right --author ann',
    )
    parser.add_argument("record")
    parser.add_argument("step", metavar="K", type=int, nargs="?")
    parser.add_argument("text", metavar="TEXT", nargs="?")
    choices = [*VERDICTS, "none"]
    parser.add_argument("--verdict", choices=choices, help="the verdict to add, or to list")
    parser.add_argument("--author", help="the author to add (default: asked once), or to list")
    parser.add_argument("--branch", metavar="NAME", help="the branch (default: the active one)")
    add_wait(parser)
    return parser


def _add(arguments: Namespace) -> int:
    verdict = None if arguments.verdict == "none" else arguments.verdict
    author = _default_author() if arguments.author is None else arguments.author
    at, text, branch = arguments.step, arguments.text, arguments.branch
    with one_move(arguments) as session:
        make_move(session, session.comment, at, text, verdict, author or None, branch=branch)
        narrate_warnings(session)
        return _show(arguments, str(session.path), read(session.record)[-1:])


def _default_author() -> str:
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
            print(_feedback_line(said))
    return 0


def _feedback_line(said: Feedback) -> str:
    """A note on one line: step, branch, verdict, author, time, text."""
    place = "" if said.at is None else f"step {said.at}"
    words = [place, said.branch and f"on {said.branch}", said.verdict, said.author, said.time]
    rest = [f"{key}={value}" for key, value in said.extras.items()]
    head = ", ".join(word for word in words if word)
    return one_line(": ".join(part for part in (head, " ".join([said.text, *rest])) if part))


PARSERS = {"feedback": _feedback, "steps": _steps}
"""The parser function of each command."""
