"""Finds words in everything that one record holds, or in all records of a folder."""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import QuizlogError, RecordError, UsageError
from ..files.paths import record_path
from ..record.model import Record
from ..record.store import RecordFile
from ..record.summary import find_records
from ..record.who import Attribution, check_giver, every_giver, is_by
from ..replay.replayer import CHECKPOINTS
from ..replay.transcript import Transcript
from ..session.find import (
    UNRECORDED,
    Hit,
    Passage,
    excerpt,
    hits_in,
    match_limit,
    passages,
    recorded_passages,
    search_pattern,
)
from ..session.session import Session
from ..text import one_line, plural
from .grammar import Parser, add_by, command
from .moves import narrate_warnings, one_move
from .streams import ProgressLine, emit_json, tell

_WIDTH = 100
"""Characters of a line that are shown; --json gives all of it."""


class _Found(NamedTuple):
    """A hit and its record."""

    record: Path
    hit: Hit


def _run_find(arguments: Namespace) -> int:
    """`quizlog find WORDS [RECORD|FOLDER]`."""
    if not arguments.words:
        raise UsageError("no words to find", hint='quizlog find "some words" RECORD|FOLDER')
    pattern = search_pattern(arguments.words, regex=arguments.regex)
    arguments.record = arguments.where
    in_folder = Path(arguments.where).is_dir()
    missed: list[tuple[str, str]] = []
    search = _in_folder if in_folder else _in_record
    found = search(pattern, arguments, missed)
    if arguments.json:
        where = {"words": arguments.words, "regex": arguments.regex, "where": arguments.where}
        hits = [_plain(one) for one in found]
        emit_json({**where, "hits": hits, "not_searched": [": ".join(one) for one in missed]})
        return 0
    anything = False
    for one in found:
        anything = True
        print(_line(one, arguments.where if in_folder else None))
    if not anything:
        limit = f" ({UNRECORDED}: only in RECORD, not in a folder)" if in_folder else ""
        print(f"quizlog: not found: {one_line(arguments.words)}{limit}", file=sys.stderr)
    return 0


def _find() -> Parser:
    details = (
        "Find words in the output, questions, answers, errors and notes of all branches, in the\n"
        "order of the steps; upper and lower case are the same. A record is run. Of the records\n"
        "in a folder only their files are searched, with output and errors of the active branch."
    )
    parser = command(
        "find",
        _run_find,
        group="look",
        arguments="WORDS [RECORD|FOLDER]",
        about="find words in all branches, or all records",
        details=details,
        example="lamp adventure",
    )
    parser.add_argument("words", metavar="WORDS")
    default = "default: the records in this folder"
    parser.add_argument("where", metavar="RECORD|FOLDER", nargs="?", default=".", help=default)
    parser.add_argument("--regex", action="store_true", help="WORDS is a regular expression")
    add_by(parser, "only in answers by this name, kind or door")
    return parser


def _in_record(
    pattern: re.Pattern[str], arguments: Namespace, missed: list[tuple[str, str]]
) -> Iterator[_Found]:
    """Search one record: all its branches are run.

    Args:
        pattern: What is sought.
        arguments: Of the command.
        missed: Collects the branches that cannot be run, and why.
    """
    with one_move(arguments, checkpoints=CHECKPOINTS) as session:
        narrate_warnings(session)
        path, counts = record_path(arguments.where), _counting(session.record, arguments.by)
        if arguments.by is not None:
            check_giver(arguments.by, _givers(session.record))
        for passage in filter(counts, passages(session.record, _runs(session, missed))):
            yield from (_Found(path, hit) for hit in _hits(pattern, passage, arguments))


def _counting(record: Record, wanted: str | None) -> Callable[[Passage], bool]:
    """Whether a passage is searched: each is, or only answers of the wanted giver."""
    if wanted is None:
        return lambda passage: True
    givers = {name: every_giver(record, name) for name in record.names}
    return lambda each: each.part == "answer" and is_by(givers[each.branch][each.at], wanted)


def _givers(record: Record) -> set[Attribution]:
    """Who answered on any branch, without the times."""
    every = (given for name in record.names for given in every_giver(record, name))
    return {given._replace(time=None) for given in every}


def _hits(pattern: re.Pattern[str], passage: Passage, arguments: Namespace) -> list[Hit]:
    """The hits in a passage.

    Raises:
        LimitError: The regular expression takes too long.
    """
    with match_limit(on=arguments.regex):
        return list(hits_in(pattern, passage))


def _runs(session: Session, missed: list[tuple[str, str]]) -> dict[str, Transcript]:
    """The runs of all branches; those that cannot be run are told."""
    found: dict[str, Transcript] = {}
    for name, outcome in session.transcripts_of([branch.name for branch in session.branches]):
        if isinstance(outcome, QuizlogError):
            missed.append((f"branch {name}", str(outcome)))
        else:
            found[name] = outcome
    tell("not searched", missed, "branch")
    return found


def _in_folder(
    pattern: re.Pattern[str], arguments: Namespace, missed: list[tuple[str, str]]
) -> Iterator[_Found]:
    """Search all records of a folder as their files are; nothing is run.

    Args:
        pattern: What is sought.
        arguments: Of the command.
        missed: Collects the records that cannot be read, and why.
    """
    progress = ProgressLine()
    givers: set[Attribution] = set()
    for number, path in enumerate(find_records(Path(arguments.where))):
        progress("searching records", number, 0)
        try:
            record = RecordFile(path).read()
            texts = filter(_counting(record, arguments.by), recorded_passages(record))
        except RecordError as error:
            missed.append(error.finding)
            continue
        givers |= set() if arguments.by is None else _givers(record)
        hits = [hit for passage in texts for hit in _hits(pattern, passage, arguments)]
        if hits:
            progress.end()
        yield from (_Found(path, hit) for hit in hits)
    progress.end()
    if arguments.by is not None:
        check_giver(arguments.by, givers)
    if missed:
        print(f"quizlog: not searched: {_unreadable(len(missed))}", file=sys.stderr)


def _unreadable(count: int) -> str:
    return f"{plural(count, 'record')} that cannot be read; `quizlog list --status unreadable`"


def _plain(found: _Found) -> dict[str, Any]:
    hit = found.hit
    return {
        "record": str(found.record),
        "branch": hit.passage.branch,
        "step": hit.passage.at,
        "part": hit.passage.part,
        "line": hit.line,
        "matches": [list(span) for span in hit.spans],
    }


def _line(found: _Found, folder: str | None) -> str:
    """A hit as a row; its record is named where a folder is searched."""
    passage = found.hit.passage
    name = "" if folder is None else f"{os.path.relpath(found.record, folder)}: "
    text = "".join(piece for piece, _ in excerpt(found.hit, _WIDTH)).strip()
    return one_line(f"{name}step {passage.at} of {passage.branch}, {passage.part}: {text}")


PARSERS = {"find": _find}
"""The parser function of each command."""
