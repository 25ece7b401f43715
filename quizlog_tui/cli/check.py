"""`quizlog check`: do the records of a folder come out as recorded? For a run in CI."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import QuizlogError, UsageError
from ..files.durable import check_place, write_text
from ..proof.changed import HEAD, changed_records, commit_of
from ..proof.check import RecordCheck, check
from ..proof.diverge import NOTHING
from ..proof.drift import NOUNS
from ..report.checks import CheckRow, report_kind, to_junit, to_summary
from ..text import clipped, in_columns, one_line, plural, told_apart
from .every_record import UNREADABLE, counted, exit_code, records_below, side_by_side
from .grammar import Parser, add_force, command
from .streams import ProgressLine, emit_json

_HEADS = ("record", "outcome", "score", "first difference")
_MOST = 60
"""Characters of a text that the table shows."""

Found = Sequence[tuple[Path, RecordCheck | QuizlogError]]


def _run_check(arguments: Namespace) -> int:
    """`quizlog check FOLDER`."""
    _check_places(arguments)
    folder = Path(arguments.folder)
    paths = every = records_below(folder)
    if arguments.changed is not None:
        paths = changed_records(folder, every, commit_of(folder, arguments.changed))
    found, left_out = _checked(paths), len(every) - len(paths)
    rows = _rows(found)
    told = _summary(rows, left_out)
    if arguments.json:
        records = [_data(*one) for one in found]
        emit_json({"folder": str(folder), "left_out": left_out, "records": records})
    else:
        _show([row for row in rows if row.result != "same"])
        print(f"-- {told}", file=sys.stderr)
    _write_reports(arguments, rows, told)
    return exit_code([one if isinstance(one, QuizlogError) else one.verdict for _, one in found])


def _check() -> Parser:
    parser = command(
        "check",
        _run_check,
        group="prove",
        arguments="FOLDER",
        about="check that records come out as recorded, for CI",
        details=(
            "Replay each record of a folder, and list those whose outcome, score or texts are not\n"
            "as recorded. Exit code 3 if there are any. `verify` says why, and whether a record\n"
            "would hold elsewhere."
        ),
        example=". --junit report.xml",
    )
    parser.add_argument("folder", help="the folder of the records")
    parser.add_argument(
        "--changed",
        metavar="REF",
        nargs="?",
        const=HEAD,
        help="only records that differ from this commit of git, or whose script or a file that "
        "it needs does; default: HEAD",
    )
    parser.add_argument("--junit", metavar="FILE", help="write a report in JUnit's XML")
    parser.add_argument("--markdown", metavar="FILE", help="write a report in Markdown")
    add_force(parser)
    return parser


def _check_places(arguments: Namespace) -> None:
    """Refuse at once where no report can be written in the end."""
    named = [os.path.realpath(name) for name in (arguments.junit, arguments.markdown) if name]
    if len(set(named)) < len(named):
        hint = "name two files"
        raise UsageError("--junit and --markdown name the same file", where=named[0], hint=hint)
    for name in (arguments.junit, arguments.markdown):
        if name is not None:
            check_place(Path(name), report_kind(replace_any=arguments.force))
            if not Path(name).parent.is_dir():
                hint = "make the folder first"
                raise UsageError("its folder does not exist", where=name, hint=hint)


def _checked(paths: Sequence[Path]) -> Found:
    progress, found = ProgressLine(), []
    try:
        for one in side_by_side(check, paths, 1):
            found.append(one)
            progress("checking", len(found), len(paths))
    finally:
        progress.end()
    return found


def _data(path: Path, found: RecordCheck | QuizlogError) -> dict[str, Any]:
    if isinstance(found, QuizlogError):
        return {"record": str(path), "verdict": UNREADABLE, "reason": str(found)}
    return {"record": str(path)} | found.to_dict()


def _summary(rows: Sequence[CheckRow], left_out: int) -> str:
    counts = counted(Counter(row.result for row in rows))
    told = plural(len(rows), "record") + (f": {counts}" if counts else "")
    return told + (f"; {left_out} left out, as unchanged" if left_out else "")


def _write_reports(arguments: Namespace, rows: Sequence[CheckRow], told: str) -> None:
    kind = report_kind(replace_any=arguments.force)
    if arguments.junit is not None:
        write_text(Path(arguments.junit), to_junit(rows), kind)
    if arguments.markdown is not None:
        write_text(Path(arguments.markdown), to_summary(rows, told), kind)


def _show(faults: Sequence[CheckRow]) -> None:
    for line in in_columns([_HEADS, *map(_cells, faults)]) if faults else ():
        print(line)
    sys.stdout.flush()


def _cells(row: CheckRow) -> list[str]:
    texts = ""
    if row.result == "diverges":
        shown = _quoted(row.recorded, row.no_text), _quoted(row.replayed, NOTHING)
        texts = f": {' -> '.join(shown)}"
    return [row.record, row.outcome, row.score, one_line(row.about + texts)]


def _quoted(text: str | None, no_text: str) -> str:
    return no_text if text is None else repr(clipped(text, _MOST))


def _rows(found: Found) -> list[CheckRow]:
    names = told_apart(str(path) for path, _ in found)
    return [_row(names[str(path)], one) for path, one in found]


def _row(name: str, found: RecordCheck | QuizlogError) -> CheckRow:
    if isinstance(found, QuizlogError):
        return CheckRow(name, "unreadable", about=f"unreadable: {found.message}")
    then, now, verdict = found.recorded, found.replayed, found.verdict
    return CheckRow(
        name,
        found.result,
        _sides(then.status, now.status),
        _sides(_text(then.score), _text(now.score)),
        _about(found),
        _text(verdict.recorded),
        _text(verdict.replayed),
        verdict.no_text,
    )


def _sides(then: str | None, now: str | None) -> str:
    return then or "-" if then == now else f"{then or '-'} -> {now or '-'}"


def _text(value: str | float | None) -> str | None:
    return value if value is None or isinstance(value, str) else f"{value:g}"


def _about(found: RecordCheck) -> str:
    verdict = found.verdict
    where = f"branch {verdict.branch}, " if verdict.branch else ""
    if found.result == "unverifiable":
        return f"{where}cannot be judged: {verdict.reason}"
    if verdict.what is None:
        return ""
    is_score = isinstance(verdict.recorded, int | float)
    return f"{where}step {verdict.step}, {'the score' if is_score else NOUNS[verdict.what]}"


PARSERS = {"check": _check}
"""The parser function of each command."""
