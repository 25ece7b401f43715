"""Commands that try other answers without changing the record: bisect and sweep."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from ...errors import QuizlogError, UsageError
from ...replay.replayer import CHECKPOINTS
from ...replay.transcript import Transcript
from ...session.session import Session
from ...session.trials import attempt_row, portions, read_answers
from ...text import one_line
from ..grammar import Parser, add_step, command
from ..json_output import emit_json
from .moves import one_move
from .show import sweep_lines


def bisect(arguments: Namespace) -> int:
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


def sweep(arguments: Namespace) -> int:
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
            print("\n".join(sweep_lines(rows)))
        return 0


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


def _bisect() -> Parser:
    about = "Find the first answer that makes the outcome worse than that of the best other branch."
    parser = command("quizlog bisect", bisect, about)
    parser.add_argument("record")
    return parser


def _sweep() -> Parser:
    about = "Try several answers at step K and compare the outcomes. The record is not changed."
    parser = command("quizlog sweep", sweep, about)
    add_step(parser)
    parser.add_argument("answers", metavar="ANSWER", nargs="*")
    parser.add_argument(
        "--from", dest="file", metavar="FILE", help="more answers, one per line; - reads stdin"
    )
    parser.add_argument(
        "--deep", action="store_true", help="keep later answers while their questions stay"
    )
    return parser


PARSERS = {"bisect": _bisect, "sweep": _sweep}
"""The parser function of each command."""
