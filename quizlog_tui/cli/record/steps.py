"""The command that shows the timeline of a record."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ...record import who
from ...record.who import Attribution
from ...replay.transcript import Transcript
from ...session.timeline import Moment, Timeline, Try, giver_text, timeline
from ...terminal_text import plain
from ...text import clipped, duration, one_line
from ..grammar import Parser, command
from ..json_output import emit_json
from .feedback import feedback_line
from .moves import one_move
from .show import narrate_warnings

_WIDTH = 40
"""Maximum width of a question or an answer in the table."""


def steps(arguments: Namespace) -> int:
    """`quizlog steps RECORD`."""
    with one_move(arguments) as session:
        narrate_warnings(session)
        name = arguments.branch or session.record.branch
        whole = session.transcript_of(name)
        moments = timeline(whole, session.record, name)
        givers = who.on_branch(session.record, name)
        if arguments.json:
            data = {"record": str(session.path), "branch": name, "pointer": session.pointer}
            end = {"status": whole.status, "score": whole.score}
            emit_json(data | end | {"steps": [_plain(moment, givers) for moment in moments]})
        else:
            for line in _lines(moments, whole, givers):
                print(line)
        return 0


def _plain(moment: Moment, givers: Mapping[int, Attribution]) -> dict[str, Any]:
    given = givers.get(moment.at)
    return {
        "at": moment.at,
        "prompt": moment.question,
        "answer": moment.answer,
        "used": moment.used,
        "seconds": round(moment.seconds, 6),
        "line": moment.line,
        "place": moment.step.place or None,
        "input_type": moment.kind,
        "code": moment.code,
        "who": given.to_dict() if given else None,
        "notes": [asdict(said) for said in moment.notes],
        "tries": [asdict(one) for one in moment.tries],
    }


def _lines(
    moments: Timeline, whole: Transcript, givers: Mapping[int, Attribution]
) -> Iterator[str]:
    """A row for each stop; below it its notes and other attempts."""
    count = len(str(len(moments)))
    asked = max(len(_asked(moment)) for moment in moments)
    answered = max(len(_cell(moment.answer)) for moment in moments)
    for moment in moments:
        mark = " " if moment.used or moment.answer is None else "·"
        yield (
            f"{mark}{moment.at:{count}}  {_cell(plain(moment.question or '')):{asked}}  "
            f"{_said(moment, whole):{answered}}  {_facts(moment, givers.get(moment.at))}"
        ).rstrip()
        for said in moment.notes:
            yield f" {'':{count}}  - {feedback_line(said)}"
        for one in moment.tries:
            yield f" {'':{count}}  / {_tried(one)}"


def _cell(text: str | None) -> str:
    return clipped(one_line((text or "").strip()), _WIDTH)


def _asked(moment: Moment) -> str:
    return _cell(plain(moment.question or ""))


def _said(moment: Moment, whole: Transcript) -> str:
    if moment.answer is not None:
        return _cell(moment.answer) or "(empty)"
    score = "" if whole.score is None else f", score {whole.score:g}"
    return f"{whole.status}{score}"


def _facts(moment: Moment, given: Attribution | None) -> str:
    line = "" if moment.line is None else f"  line {moment.line}"
    line += f" ({one_line(moment.step.place)})" if moment.step.place else ""
    kind = "" if moment.kind is None else f"  {moment.kind}"
    seconds = moment.seconds
    took = duration(seconds) if seconds >= 1 else f"{seconds * 1000:.1f} ms"
    code = "  ran as code" if moment.code else ""
    return f"{took:>9}{line}{kind}{code}{_giver(given)}"


def _giver(given: Attribution | None) -> str:
    """Who gave an answer, where a name or a kind is known; a shell or program says nothing."""
    return f"  {one_line(giver_text(given))}" if given and (given.name or given.by) else ""


def _tried(one: Try) -> str:
    answer = "no answer" if one.answer is None else _cell(one.answer) or "(empty)"
    score = "" if one.score is None else f", score {one.score:g}"
    return f"{one_line(one.branch)}: {answer}, {one.status or 'not replayed'}{score}"


def _steps() -> Parser:
    about = (
        "List each step of a branch: question, answer, how long the script took, line and kind.\n"
        "Below it: notes (-), and branches with another answer there (/)."
    )
    parser = command("quizlog steps", steps, about)
    parser.add_argument("record")
    parser.add_argument("--branch", metavar="NAME", help="default: the active one")
    return parser


PARSERS = {"steps": _steps}
"""The parser function of each command."""
