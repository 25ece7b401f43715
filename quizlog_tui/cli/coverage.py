"""`quizlog coverage`: what the records of a script have reached of it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from os.path import realpath
from pathlib import Path

from ..errors import QuizlogError, UsageError
from ..files.paths import record_path
from ..proof.coverage import Coverage, CoveredRun, ReachedLine
from ..proof.coverage import coverage as covered
from ..proof.drift import branch_drifts
from ..proof.lint.check import lint
from ..record.store import RecordFile
from ..record.summary import find_records
from ..replay.replayer import Replayer
from ..replay.script.granted import granted_script_of
from ..replay.script.source import Source
from ..text import one_line, plural
from .grammar import Parser, command
from .lint import script_of
from .streams import emit_json, tell


def coverage(arguments: Namespace) -> int:
    """`quizlog coverage SCRIPT RECORD...|FOLDER`."""
    source = script_of(arguments.script)
    paths = list(_paths(arguments.records or [str(source.path.parent)]))
    with Replayer() as replayer:
        left_out: list[QuizlogError] = []
        walks = [walk for path in paths for walk in _walks(path, source, replayer, left_out)]
    tell("left out", (error.finding for error in left_out), "record")
    if not walks:
        hint = "name records, or a folder of them"
        raise UsageError("no record of this script", where=str(source.path), hint=hint)
    found = covered(lint(source), walks)
    if arguments.json:
        skipped = [error.to_dict() for error in left_out]
        emit_json({"script": str(source.path)} | found.to_dict() | {"left_out": skipped})
    else:
        print("\n".join(_lines(found)))
    return 0


def _coverage() -> Parser:
    details = (
        "Show which questions, raising lines and scores the records of a script reached on all\n"
        "branches, and where to fork next. Default: the records below the script's folder."
    )
    parser = command(
        "coverage",
        coverage,
        group="compare",
        arguments="SCRIPT [RECORD...]",
        about="show what records reached, and what they did not",
        details=details,
        example="quiz.py",
    )
    parser.add_argument("script", help="a script, or a record that runs it")
    parser.add_argument(
        "records", metavar="RECORD", nargs="*", default=[], help="records, or folders of them"
    )
    return parser


def _paths(names: Sequence[str]) -> Iterator[Path]:
    for name in names:
        yield from find_records(Path(name)) if Path(name).is_dir() else [record_path(name)]


def _is_at(script: Path, path: Path) -> bool:
    """Whether a script that a record names is this one."""
    try:  # unlike `Path.resolve`, it does not fail where links lead to each other
        return realpath(script) == realpath(path)
    except ValueError:  # no file has such a name
        return False


def _walks(
    path: Path, source: Source, replayer: Replayer, left_out: list[QuizlogError]
) -> Iterator[CoveredRun]:
    """Each branch of a record, as far as its answers still fit their questions.

    Args:
        path: The record.
        source: The script.
        replayer: Runs it.
        left_out: Collects why a record cannot be run.
    """
    try:
        record = RecordFile(path).read()
        if not _is_at(path.parent / record.script, source.path):
            return
        granted = granted_script_of(path, record)
        for drift in branch_drifts(record, record.names, granted, replayer):
            yield CoveredRun(str(path), drift.branch, drift.run)
    except QuizlogError as error:
        if error.exit_code == 130:
            raise
        left_out.append(error)


def _lines(found: Coverage) -> Iterator[str]:
    yield from _part("question", found.questions)
    yield from _part("ending", found.endings)
    parts = [f"{score:g} {_times(times)}" for score, times in sorted(found.scores.items())]
    waiting = f" ({plural(found.waiting, 'run')} of {found.runs} not at an end)"
    yield f"scores: {', '.join(parts)}{waiting if found.waiting else ''}"
    if found.suggestions:
        yield "where to fork next:"
    for idea in found.suggestions:
        place = f"{one_line(idea.record)}@{one_line(idea.branch)} step {idea.step}"
        yield f"  {place}  {one_line(idea.prompt)}"
        yield f"      may lead to line {idea.line}: {one_line(idea.text)}"


def _part(noun: str, rows: Sequence[ReachedLine]) -> Iterator[str]:
    reached = sum(row.times > 0 for row in rows)
    yield f"{noun}s: {reached} of {len(rows)} reached"
    for row in rows:
        score = "" if row.score is None else f"score {row.score:<4g} "
        yield f"  line {row.line:<4} {_times(row.times):>6}  {score}{one_line(row.text)}".rstrip()


def _times(times: int) -> str:
    return f"{times}x" if times else "never"


PARSERS = {"coverage": _coverage}
"""The parser function of each command."""
