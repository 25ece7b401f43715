"""`quizlog verify`: one record, all records of a folder, or again at each save."""

from __future__ import annotations

import contextlib
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import QuizlogError, UsageError
from ..files.paths import record_path
from ..files.regular_file import is_archive
from ..proof.verdict import Verdict
from ..proof.verify import verify
from ..record.store import RecordFile
from ..record.summary import find_records
from ..replay.script.needed_files import needed_files
from ..replay.script.source import read_source
from ..text import one_line, plural
from .every_record import UNREADABLE, counted, exit_code, records_below, side_by_side
from .grammar import Parser, command
from .streams import emit_json

_LOOK_SECONDS = 0.3


def _run_verify(arguments: Namespace) -> int:
    """`quizlog verify RECORD`, `quizlog verify --all FOLDER`."""
    if (arguments.record is None) == (arguments.all is None):
        raise UsageError("which record?", hint="quizlog verify RECORD, or --all FOLDER")
    if arguments.watch and arguments.json:
        raise UsageError("--watch and --json cannot be combined", hint="leave one out")
    if arguments.signers and arguments.record is None:
        raise UsageError("--signers is for one bundle", hint="name it, or leave --signers out")
    judge = _verify_many if arguments.record is None else _verify_one
    code = judge(arguments)
    if arguments.watch:
        _watch(arguments, judge)
    return code


def _verify() -> Parser:
    parser = command(
        "verify",
        _run_verify,
        group="prove",
        arguments="RECORD",
        about="check that replays show what the record shows",
        details=(
            "Replay a record under different conditions and compare step by step: reproducible;\n"
            "fragile, if it holds here but would not elsewhere; or where it diverges, and why."
        ),
        example="adventure",
    )
    parser.add_argument("record", nargs="?", help="the record file")
    parser.add_argument(
        "--all", metavar="FOLDER", help="verify all records of a folder, in parallel"
    )
    parser.add_argument(
        "--signers",
        metavar="FILE",
        help="require a bundle signed by somebody in this file (ssh-keygen's ALLOWED SIGNERS)",
    )
    parser.add_argument(
        "--thorough",
        action="store_true",
        help="replay each branch alone, and as on another machine; else some, drawn by chance",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="verify again whenever a script or a file it needs is saved",
    )
    return parser


def _verify_one(arguments: Namespace) -> int:
    path = record_path(arguments.record)
    signers = Path(arguments.signers) if arguments.signers else None
    if is_archive(path):
        from .bundle import check

        return check(path, signers, thorough=arguments.thorough, as_json=arguments.json)
    if signers is not None:
        raise UsageError("only a bundle is signed", where=str(path), hint="leave --signers out")
    verdict = verify(path, thorough=arguments.thorough)
    if arguments.json:
        emit_json(verdict.to_dict() | {"record": str(path)})
    else:
        print(one_line(verdict.headline), flush=True)
        for remark in verdict.remarks:
            print(f"   {one_line(remark)}", file=sys.stderr)
    return exit_code([verdict])


def _verify_many(arguments: Namespace) -> int:
    folder = Path(arguments.all)
    paths = records_below(folder)
    found = []
    # each holds a run in each of two worlds
    verdicts = side_by_side(partial(verify, thorough=arguments.thorough), paths, 2)
    for index, (path, verdict) in enumerate(verdicts, 1):
        found.append((path, verdict))
        if not arguments.json:
            print(f"{_headline(verdict)}  {one_line(str(path))}", flush=True)
        _progress(index, len(paths))
    if arguments.json:
        emit_json({"folder": str(folder), "records": [_row(*one) for one in found]})
    else:
        print(_summary([verdict for _, verdict in found]), file=sys.stderr)
    return exit_code([verdict for _, verdict in found])


def _headline(verdict: Verdict | QuizlogError) -> str:
    if isinstance(verdict, QuizlogError):
        return f"{UNREADABLE}: {one_line(verdict.message)}"
    fits = f" [fits {verdict.fits}]" if verdict.fits else ""
    return one_line(verdict.headline) + fits


def _row(path: Path, verdict: Verdict | QuizlogError) -> dict[str, Any]:
    if isinstance(verdict, QuizlogError):
        return {"record": str(path), "verdict": UNREADABLE, "reason": str(verdict)}
    return verdict.to_dict() | {"record": str(path)}


def _summary(verdicts: Sequence[Verdict | QuizlogError]) -> str:
    counts = Counter(
        UNREADABLE if isinstance(one, QuizlogError) else one.verdict for one in verdicts
    )
    said = f"-- {plural(len(verdicts), 'record')}: {counted(counts)}"
    fits = Counter(one.fits for one in verdicts if isinstance(one, Verdict) and one.fits)
    return said + (f"; against the edited script: {counted(fits)}" if fits else "")


def _progress(done: int, count: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == count else ""
        print(f"\r-- {done} of {count}\x1b[K{end}", end="\r", file=sys.stderr, flush=True)


def _watch(arguments: Namespace, judge: Callable[[Namespace], int]) -> None:
    """Verify again whenever a record or a file of its script is saved, until Ctrl-C."""
    seen = _times(arguments)
    print("-- watching; Ctrl-C ends", file=sys.stderr)
    while True:
        time.sleep(_LOOK_SECONDS)
        now = _times(arguments)
        if now != seen:
            seen = now
            try:
                judge(arguments)
            except QuizlogError as error:  # in the middle of an edit, say
                print(f"quizlog: {one_line(str(error))}", file=sys.stderr)


def _times(arguments: Namespace) -> dict[Path, int]:
    """The modification time of each record and each file that its script needs."""
    found: dict[Path, int] = {}
    named = [record_path(arguments.record)] if arguments.record else []
    for path in named or find_records(Path(arguments.all)):
        for file in (path, *_files_to_watch(path)):
            with contextlib.suppress(FileNotFoundError):
                found[file] = file.stat().st_mtime_ns
    return found


def _files_to_watch(path: Path) -> list[Path]:
    """The script of a record with its modules and data files, if readable."""
    script: list[Path] = []
    try:
        script.append(path.parent / RecordFile(path).read().script)
        return [*script, *needed_files(read_source(script[0]))]
    except QuizlogError:
        return script


PARSERS = {"verify": _verify}
"""The parser function of each command."""
