"""`quizlog lint`: what is known about a script without running it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from ..files.paths import record_path
from ..proof.lint.check import lint as lint_source
from ..proof.lint.check import lint_module
from ..proof.lint.findings import LintReport
from ..record.store import SUFFIXES, RecordFile
from ..replay.script.needed_files import needed_files
from ..replay.script.source import Source, read_script_of, read_source
from ..text import one_line, plural, told_once
from .grammar import Parser, command
from .streams import emit_json

_FOUND = 3
"""Exit code if there is a trap."""


def script_of(name: str) -> Source:
    """The script that a user names: a script file, or that of a record or an example."""
    path = record_path(name)
    if path.suffix in SUFFIXES:
        return read_script_of(path, RecordFile(path).read().script)
    return read_source(path)


def lint(arguments: Namespace) -> int:
    """`quizlog lint SCRIPT`."""
    source = script_of(arguments.script)
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
        lint,
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


PARSERS = {"lint": _lint}
"""The parser function of each command."""
