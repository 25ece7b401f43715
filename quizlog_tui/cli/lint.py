"""Commands about a script: what is known without running it, and what its records reached."""

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
from ..proof.lint.check import lint as lint_source
from ..proof.lint.check import lint_module
from ..proof.lint.findings import LintReport
from ..record.store import SUFFIXES, RecordFile
from ..record.summary import find_records
from ..replay.replayer import Replayer
from ..replay.script.granted import granted_script_of
from ..replay.script.needed_files import needed_files
from ..replay.script.source import Source, read_script_of, read_source
from ..text import one_line, plural, told_once
from .grammar import Parser, command
from .streams import emit_json, tell

_FOUND = 3
"""Exit code if there is a trap."""


def _script_of(name: str) -> Source:
    """The script that a user names: a script file, or that of a record or an example."""
    path = record_path(name)
    if path.suffix in SUFFIXES:
        return read_script_of(path, RecordFile(path).read().script)
    return read_source(path)


def _run_lint(arguments: Namespace) -> int:
    """`quizlog lint SCRIPT`."""
    source = _script_of(arguments.script)
    report = lint_source(source)
    others = {name: lint_module(file) for name, file in _modules(source)}
    if arguments.json:
        files = {name: other.to_dict() for name, other in others.items()}
        emit_json({"script": str(source.path)} | report.to_dict() | {"files": files})
    else:
        for name, each in ({source.path.name: report} | others).items():
            print("\n".join(_lines(each, name)))
    return _FOUND if any(each.traps for each in (report, *others.values())) else 0


def _lint() -> Parser:
    details = (
        "List a script's questions, the lines that raise with their scores, and traps: code that\n"
        "cannot be replayed or scored as intended; then those of its modules in the same folder.\n"
        "Runs nothing. Exit code 3 if there are traps."
    )
    parser = command(
        "lint",
        _run_lint,
        group="prove",
        arguments="SCRIPT",
        about="list questions, scores and traps; run nothing",
        details=details,
        example="quiz.py",
    )
    parser.add_argument("script", help="a script, or a record that runs it")
    return parser


def _modules(source: Source) -> Iterator[tuple[str, Source]]:
    """The modules in the script's folder that it imports, by name."""
    for path in needed_files(source):
        name = path.relative_to(source.path.parent).as_posix()
        module = source.file(name) if path.suffix == ".py" else None
        if module is not None:
            yield name, module


def _lines(report: LintReport, name: str) -> Iterator[str]:
    counts = (
        plural(len(report.questions), "question"),
        plural(len(report.endings), "ending"),
        plural(len(report.traps), "trap"),
    )
    yield f"{one_line(name)}: {', '.join(counts)}"
    for question in report.questions:
        asked = "(computed)" if question.prompt is None else question.prompt
        yield f"  line {question.line:<4} question  {question.input_type:<9} {one_line(asked)}"
    for ending in report.endings:
        score = f"score {ending.score:g}" if ending.scored else "no score"
        yield f"  line {ending.line:<4} ending    {score:<9} {one_line(ending.message)}"
    mends = {f"{trap.code}: {trap.reason}": trap.mend for trap in report.traps}
    traps = ((f"line {trap.line}", f"{trap.code}: {trap.reason}") for trap in report.traps)
    for place, reason in told_once(traps, "line"):
        yield f"  {place:<9} trap      {one_line(reason)}"
        yield f"{'':22}{mends[reason]}"


def _run_coverage(arguments: Namespace) -> int:
    """`quizlog coverage SCRIPT RECORD...|FOLDER`."""
    source = _script_of(arguments.script)
    paths = list(_paths(arguments.records or [str(source.path.parent)]))
    with Replayer() as replayer:
        left_out: list[QuizlogError] = []
        walks = [walk for path in paths for walk in _walks(path, source, replayer, left_out)]
    tell("left out", (error.finding for error in left_out), "record")
    if not walks:
        hint = "name records, or a folder of them"
        raise UsageError("no record of this script", where=str(source.path), hint=hint)
    found = covered(lint_source(source), walks)
    if arguments.json:
        skipped = [error.to_dict() for error in left_out]
        emit_json({"script": str(source.path)} | found.to_dict() | {"left_out": skipped})
    else:
        print("\n".join(_coverage_lines(found)))
    return 0


def _coverage() -> Parser:
    details = (
        "Show which questions, raising lines and scores the records of a script reached on all\n"
        "branches, and where to fork next. Default: the records below the script's folder."
    )
    parser = command(
        "coverage",
        _run_coverage,
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


def _coverage_lines(found: Coverage) -> Iterator[str]:
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


PARSERS = {"lint": _lint, "coverage": _coverage}
"""The parser function of each command."""
