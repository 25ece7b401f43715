"""Commands for branches: list, rename, note, delete, restore, and try other answers.

`sweep` and `bisect` try answers without changing the record.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import QuizlogError, UsageError
from ..files.paths import record_path
from ..record.store import RecordFile
from ..replay.replayer import CHECKPOINTS
from ..replay.transcript import Transcript
from ..session.reply import BranchInfo
from ..session.session import Session
from ..session.trials import attempt_row, portions, read_answers
from ..text import one_line, plural, told_apart
from .grammar import Parser, add_step, add_wait, command
from .moves import make_move, narrate_warnings, one_move
from .streams import emit_json, say


def _run_branches(arguments: Namespace) -> int:
    """`quizlog branches RECORD`."""
    with one_move(arguments) as session:
        narrate_warnings(session)
        stored = RecordFile(session.path).read().all_names
        for name in (each.name for each in session.branches if each.name not in stored):
            hint = f"the next change writes it, or `quizlog migrate {arguments.record}`"
            say(f"note: the branch {name} is not in the file yet; {hint}")
        return _show(session, arguments)


def _branches() -> Parser:
    parser = command(
        "branches",
        _run_branches,
        group="move",
        arguments="RECORD",
        about="list the branches",
        details="List the branches of a record.",
        example="adventure",
    )
    parser.add_argument("record")
    parser.add_argument("--deleted", action="store_true", help="include deleted branches")
    return parser


def _run_rename(arguments: Namespace) -> int:
    """`quizlog rename RECORD NAME NEW`."""
    with one_move(arguments) as session:
        make_move(session, session.rename, arguments.name, arguments.new)
        return _show_changed(session, arguments)


def _rename() -> Parser:
    parser = command(
        "rename",
        _run_rename,
        group="move",
        arguments="RECORD NAME NEW",
        about="rename a branch",
        details="Give a branch another name.",
        example="adventure dark unlit",
    )
    _add_branch(parser)
    parser.add_argument("new", metavar="NEW")
    return parser


def _run_note(arguments: Namespace) -> int:
    """`quizlog note RECORD NAME TEXT`."""
    with one_move(arguments) as session:
        make_move(session, session.note, arguments.name, arguments.text)
        return _show_changed(session, arguments)


def _note() -> Parser:
    parser = command(
        "note",
        _run_note,
        group="move",
        arguments="RECORD NAME TEXT",
        about="set the note of a branch",
        details='Set the note of a branch; an empty one ("") removes it.',
        example='adventure greedy "took all of it"',
    )
    _add_branch(parser)
    parser.add_argument("text", metavar="TEXT")
    return parser


def _run_delete(arguments: Namespace) -> int:
    """`quizlog delete RECORD NAME`."""
    with one_move(arguments) as session:
        make_move(session, session.delete, arguments.name)
        code = _show_changed(session, arguments)
    again = one_line(f"quizlog restore {record_path(arguments.record)} {arguments.name}")
    print(f"-- hidden, its answers stay: `{again}` restores it", file=sys.stderr)
    return code


def _delete() -> Parser:
    details = (
        "Hide a branch. Its answers stay in the record, and so do the branches that fork from it."
    )
    parser = command(
        "delete",
        _run_delete,
        group="move",
        arguments="RECORD NAME",
        about="hide a branch; its answers stay",
        details=details,
        example="adventure greedy",
    )
    _add_branch(parser)
    return parser


def _run_restore(arguments: Namespace) -> int:
    """`quizlog restore RECORD NAME`."""
    with one_move(arguments) as session:
        make_move(session, session.restore, arguments.name)
        return _show_changed(session, arguments)


def _restore() -> Parser:
    parser = command(
        "restore",
        _run_restore,
        group="move",
        arguments="RECORD NAME",
        about="show a deleted branch again",
        details="Show a deleted branch again.",
        example="adventure greedy",
    )
    _add_branch(parser)
    return parser


def _show_changed(session: Session, arguments: Namespace) -> int:
    narrate_warnings(session)
    return _show(session, arguments)


def _show(session: Session, arguments: Namespace) -> int:
    deleted = getattr(arguments, "deleted", False)
    found = session.all_branches if deleted else session.branches
    if arguments.json:
        emit_json({"record": str(session.path), "branches": [asdict(each) for each in found]})
    else:
        print("\n".join(_branch_lines(found)))
    return 0


def _add_branch(parser: Parser) -> None:
    parser.add_argument("record")
    parser.add_argument("name", metavar="NAME")
    add_wait(parser)


def _run_bisect(arguments: Namespace) -> int:
    """`quizlog bisect RECORD`."""
    with one_move(arguments, checkpoints=CHECKPOINTS) as session:
        culprit = session.bisect()
        step = session.transcript_of().steps[culprit.step] if culprit else None
        if arguments.json:
            emit_json(
                {
                    "step": culprit and culprit.step,
                    "prompt": step and step.question,
                    "input": step and step.input,
                    "replays": culprit and culprit.replays,
                    "failing_too": list(culprit.failing_too) if culprit else [],
                }
            )
        elif step is None or culprit is None:
            print("no answer makes the outcome fail")
        else:
            where = f"step {culprit.step}: {step.question or ''}{step.input or ''}"
            print(one_line(where))
            if culprit.failing_too:
                others = ", ".join(answer or "(empty)" for answer in culprit.failing_too)
                said = f"it fails there with {others} too: it does not depend on this answer alone"
                print(one_line(said))
        return 0


def _bisect() -> Parser:
    details = (
        "Find the first answer that makes the outcome worse than that of the best other branch."
    )
    parser = command(
        "bisect",
        _run_bisect,
        group="compare",
        arguments="RECORD",
        about="find the answer that makes the outcome fail",
        details=details,
        example="adventure",
    )
    parser.add_argument("record")
    return parser


def _run_sweep(arguments: Namespace) -> int:
    """`quizlog sweep RECORD K [ANSWER...] [--from FILE] [--deep]`."""
    answers = list(arguments.answers)
    if arguments.file is not None:
        answers += read_answers(Path(arguments.file))
    if not answers:
        raise UsageError("which answers?", hint="name them, or use --from FILE with one per line")
    with one_move(arguments, checkpoints=CHECKPOINTS) as session:
        found = _tried(session, arguments.step, answers, deep=arguments.deep)
        recorded = session.transcript_of() if arguments.deep else None
        pairs = zip(answers, found, strict=True)
        rows = [attempt_row(answer, one, recorded) for answer, one in pairs]
        if arguments.json:
            emit_json({"record": str(session.path), "step": arguments.step, "results": rows})
        else:
            print("\n".join(_sweep_lines(rows)))
        return 0


def _sweep() -> Parser:
    details = "Try several answers at step K and compare the outcomes. The record is not changed."
    parser = command(
        "sweep",
        _run_sweep,
        group="compare",
        arguments="RECORD K [ANSWER...]",
        about="try several answers at step K",
        details=details,
        example="adventure 6 yes no",
    )
    add_step(parser)
    parser.add_argument("answers", metavar="ANSWER", nargs="*")
    parser.add_argument(
        "--from", dest="file", metavar="FILE", help="more answers, one per line; - reads stdin"
    )
    parser.add_argument(
        "--deep", action="store_true", help="keep later answers while their questions stay"
    )
    return parser


def _tried(
    session: Session, at: int, answers: list[str], *, deep: bool
) -> list[Transcript | QuizlogError]:
    """Try each answer, with progress on a terminal."""
    found: list[Transcript | QuizlogError] = []
    for portion in portions(answers):
        found += session.fan_out(at, portion, deep=deep)
        if sys.stderr.isatty() and len(answers) > len(portion):
            print(f"\rtried {len(found)} of {len(answers)}", end="", file=sys.stderr)
            if len(found) == len(answers):
                print(file=sys.stderr)
    return found


def _branch_lines(branches: Sequence[BranchInfo]) -> Iterator[str]:
    """A table of branches; the active one has a mark."""
    names = told_apart(branch.name for branch in branches)
    width = max(map(len, names.values()))
    for branch in branches:
        mark = "*" if branch.active else " "
        parent = names.get(branch.parent or "", branch.parent)
        left = f"from {parent} at step {branch.at}" if branch.parent else "from the start"
        score = "" if branch.score is None else f", score {branch.score:g}"
        note = f"  {one_line(branch.note)}" if branch.note else ""
        gone = f", deleted {one_line(branch.deleted)}" if branch.deleted else ""
        yield (
            f"{mark} {names[branch.name]:{width}}  {plural(branch.length, 'answer')}, "
            f"{one_line(left)}, {branch.status or 'not replayed'}{score}{gone}{note}"
        )


def _sweep_lines(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table: answer, outcome, score, next question or error."""
    width = max(len(one_line(row["answer"])) for row in rows)
    for row in rows:
        score = "" if row["score"] is None else f"  score {row['score']:g}"
        said = row.get("next_prompt") or row["error"] or ""
        status = row["status"] or "stopped"
        parted = "" if row.get("differs") is None else f"  differs at step {row['differs']}"
        words = f"{status}{score}{parted}  {one_line(said)}"
        yield f"{one_line(row['answer']):{width}}  {words}".rstrip()


PARSERS = {
    "branches": _branches,
    "rename": _rename,
    "note": _note,
    "delete": _delete,
    "restore": _restore,
    "bisect": _bisect,
    "sweep": _sweep,
}
"""The parser function of each command."""
