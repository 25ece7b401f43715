"""Commands that compare two runs, or a record with its present script."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator

from ..errors import UsageError
from ..files.paths import record_path
from ..proof.compare import Side, compare, difference_lines, early_end, runs_of, side_of
from ..proof.diverge import Difference
from ..proof.drift import (
    DriftReport,
    describe_files,
    difference_text,
    drift_report,
    fit_text,
)
from ..record.store import RecordFile
from ..replay.replayer import Replayer
from ..replay.script.granted import granted_script_of
from ..replay.transcript import Transcript
from ..text import one_line, plural, told_once
from .grammar import Parser, add_wait, command
from .moves import narrate, narrate_warnings, one_move, wait_while_held
from .streams import emit_json, search_paused

_DIFFERENT = 3
"""Exit code if a difference was found."""


def _run_diff(arguments: Namespace) -> int:
    """`quizlog diff A[@BRANCH] [B[@BRANCH]]`."""
    with search_paused():  # both runs stay to the end
        return _diff(arguments)


def _diff_parser() -> Parser:
    details = (
        "Show the first difference between two runs, then their steps. A run is RECORD (up\n"
        "to its pointer) or RECORD@BRANCH (to its end); B may be @BRANCH alone. Without B, the\n"
        "record is compared with its own replay. Exit code 3 if they differ."
    )
    parser = command(
        "diff",
        _run_diff,
        group="compare",
        arguments="A[@BRANCH] [B[@BRANCH]]",
        about="show where two runs part, step by step",
        details=details,
        example="adventure@main @greedy",
    )
    parser.add_argument("a", metavar="A[@BRANCH]")
    parser.add_argument("b", metavar="B[@BRANCH]", nargs="?")
    return parser


def _diff(arguments: Namespace) -> int:
    a = side_of(arguments.a)
    if arguments.b is None:
        return _diff_replay(a, as_json=arguments.json)
    b = side_of(arguments.b, a)
    with Replayer() as replayer:
        runs = runs_of((a, b), replayer)
    for side, (run, ended) in zip((a, b), runs, strict=True):
        _note_end(side, run, ended)
    found = compare(runs[0][0], runs[1][0], ended=(runs[0][1], runs[1][1]))
    if arguments.json:
        emit_json(found.to_dict())
    else:
        print("\n".join(difference_lines(found, a.name, b.name, (a.givers, b.givers))))
    return 0 if found.equal else _DIFFERENT


def _note_end(side: Side, run: Transcript, ended: Difference | None) -> None:
    """Report what ended a run early."""
    if ended is not None:
        told = one_line(early_end(side.name, run, ended))
        print(f"quizlog: note: {told}", file=sys.stderr)


def _diff_replay(side: Side, *, as_json: bool) -> int:
    """Compare a record with its replay under the present script."""
    with Replayer(checkpoints=0) as replayer:
        ((run, found),) = runs_of((side,), replayer)
    if as_json:
        said = found and {"step": found.step, "what": found.what, "a": found.a, "b": found.b}
        emit_json({"equal": found is None} | (said or dict.fromkeys(("step", "what", "a", "b"))))
    elif found is None:
        steps = plural(len(run.steps), "step")
        print(f"{one_line(side.name)} and its replay show the same ({steps})")
    else:
        print(f"{one_line(side.name)}: {difference_text(found)}")
    return _DIFFERENT if found else 0


def _run_drift(arguments: Namespace) -> int:
    """`quizlog drift RECORD`."""
    path = record_path(arguments.record)
    record = RecordFile(path).read()
    source = granted_script_of(path, record)
    with Replayer() as replayer:
        report = drift_report(record, source, replayer)
    if arguments.json:
        emit_json({"record": str(path)} | report.to_dict())
    else:
        print("\n".join(_report_lines(report)))
    return 0 if report.agrees else _DIFFERENT


def _drift() -> Parser:
    parser = command(
        "drift",
        _run_drift,
        group="prove",
        arguments="RECORD",
        about="show how far a record fits an edited script",
        details=(
            "Show how far each branch of a record agrees with the present script. Writes nothing.\n"
            "Exit code 3 if a branch does not agree to its end."
        ),
        example="adventure",
    )
    parser.add_argument("record")
    return parser


def _report_lines(report: DriftReport) -> Iterator[str]:
    changed = "has changed" if report.changed else "is as recorded"
    yield f"the script {changed}"
    for name, change in told_once(report.files, "file"):
        yield from map(one_line, describe_files([(name, change)]))
    found = ((one.branch, one_line(fit_text(one))) for one in report.branches)
    rows = [(one_line(place), said) for place, said in told_once(found, "branch")]
    width = max(len(place) for place, _ in rows)
    yield from (f"{place:{width}}  {said}" for place, said in rows)


def _run_migrate(arguments: Namespace) -> int:
    """`quizlog migrate RECORD`."""
    with one_move(arguments) as session:
        if session.source.withheld:
            message = "the script lacks what was allowed it, so that answers may not fit"
            raise UsageError(message, where=arguments.record, hint=session.source.withheld)
        wait_while_held(session)
        with session.locked():
            session.save()
        narrate_warnings(session)
        reply = session.reply()
        if arguments.json:
            emit_json(reply.to_dict())
        else:
            narrate(session, reply)
        return 0


def _migrate() -> Parser:
    details = (
        "Rewrite the record for the present script. Answers whose questions are the same stay;\n"
        "the old answers become a branch."
    )
    parser = command(
        "migrate",
        _run_migrate,
        group="prove",
        arguments="RECORD",
        about="continue a record under an edited script",
        details=details,
        example="adventure",
    )
    parser.add_argument("record")
    add_wait(parser)
    return parser


PARSERS = {"diff": _diff_parser, "drift": _drift, "migrate": _migrate}
"""The parser function of each command."""
