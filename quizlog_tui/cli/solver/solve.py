"""The command that asks several models the pending question."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..extras import needs
from ..grammar import (
    Parser,
    add_models,
    add_replies,
    add_unsafe_local,
    add_wait,
    command,
    seconds,
)
from ..json_output import emit_json
from ..record.moves import one_move
from ..record.show import error_lines, narrate_warnings, say
from .ask_for_programs import ask_for_programs
from .decision_show import decision_lines, short, voter_line

if TYPE_CHECKING:
    from ...session.reply import Reply
    from ...session.session import Session
    from ...solver.decisions.decision import Decision
    from ...solver.models.choice import Choice
    from ...solver.solve import Panel, Progress

DISAGREE = 3
"""Exit code if the models do not agree."""
NO_ANSWER = 4
"""Exit code if no model answered."""


def solve(arguments: Namespace) -> int:
    """`quizlog solve RECORD`."""
    needs("solver", "httpx", "pydantic", "dotenv")
    if arguments.url:
        return asyncio.run(_solve_remotely(arguments))
    choice = _choice(arguments)
    ask_for_programs(choice, arguments)
    with one_move(arguments) as session:
        narrate_warnings(session)
        return asyncio.run(_solve(session, choice, arguments))


async def _solve(session: Session, choice: Choice, arguments: Namespace) -> int:
    async with _panel(session, choice, arguments) as panel:
        if panel.label:
            say(f"note: {panel.label}")
        if arguments.until_end:
            return await _fly(session, panel, arguments)
        return await _once(session, panel, arguments)


async def _solve_remotely(arguments: Namespace) -> int:
    from .solve_remote import solve_remotely

    solved = await solve_remotely(arguments, _tell(arguments))
    if solved.reply is not None:
        return 1 if solved.reply.get("status") == "error" else 0
    if solved.decision.verdict.why is None or arguments.until_end:
        return DISAGREE if solved.decision.verdict.classes else NO_ANSWER
    return 0


async def _once(session: Session, panel: Panel, arguments: Namespace) -> int:
    from ...solver.autopilot import accept, ask
    from ...solver.decisions.decision_text import answer_text

    decision = await ask(session, panel, budget=arguments.budget, tell=_tell(arguments))
    reply = accept(session, decision) if arguments.accept and decision.verdict.why else None
    if arguments.json:
        emit_json({"decision": _data(decision), "reply": (reply or session.reply()).to_dict()})
    else:
        print("\n".join(decision_lines(decision)))
        sys.stdout.flush()
    if reply is not None:
        _answered(session, decision, reply)
        return 1 if reply.status == "error" else 0
    if decision.verdict.why is None:
        return DISAGREE if decision.verdict.classes else NO_ANSWER
    text = short(answer_text(decision.verdict.answer, decision.question))
    say(f"accept it with --accept, or answer yourself: quizlog {session.path} {text!r}")
    return 0


async def _fly(session: Session, panel: Panel, arguments: Namespace) -> int:
    from ...solver.autopilot import run_autopilot

    def answered(decision: Decision, reply: Reply) -> None:
        if not arguments.json:
            print("\n".join(decision_lines(decision)), flush=True)
        _answered(session, decision, reply)

    flight = await run_autopilot(
        session, panel, budget=arguments.budget, tell=_tell(arguments), answered=answered
    )
    last = flight.decisions[-1]
    if arguments.json:
        made = [_data(decision) for decision in flight.decisions]
        emit_json({"ended": flight.ended, "decisions": made, "reply": flight.reply.to_dict()})
    elif flight.ended in ("disagreement", "undecided"):
        print("\n".join(decision_lines(last)), flush=True)
    if flight.ended == "finished":
        return 0
    if flight.ended == "raised":
        return 1
    say(f"paused at step {last.question.pointer}: {_WHY_PAUSED[flight.ended]}")
    return DISAGREE if flight.ended == "disagreement" else NO_ANSWER


_WHY_PAUSED = {
    "disagreement": "the models do not agree; --accept takes the decision, or answer yourself",
    "undecided": "no model gave an answer",
}


def _answered(session: Session, decision: Decision, reply: Reply) -> None:
    from ...solver.decisions.decision_text import answer_text

    text = short(answer_text(decision.verdict.answer, decision.question))
    outcome = "" if reply.score is None else f", score {reply.score:g}"
    say(f"answered {text!r} on branch {reply.branch}: {reply.status}{outcome}")
    for line in error_lines(session, reply) if reply.last_error else ():
        print(line, file=sys.stderr)


def _data(decision: Decision) -> dict[str, Any]:
    from ...solver.decisions.decision_text import to_data

    return to_data(decision)


def _tell(arguments: Namespace) -> Any:
    """Report progress on stderr."""

    def tell(progress: Progress) -> None:
        if progress.what in ("replied", "ran", "reconsidered") and progress.name:
            print(f"   {voter_line(progress.name, progress.decision)}", file=sys.stderr)
        elif progress.what == "reconciling":
            print(
                "   the models disagree: each is shown all results and asked again", file=sys.stderr
            )

    return tell


def _choice(arguments: Namespace) -> Choice:
    from ...solver.models.choice import Choice

    names = (arguments.models, arguments.replay, arguments.keep)
    return Choice(*(Path(name) if name else None for name in names))


@asynccontextmanager
async def _panel(session: Session, choice: Choice, arguments: Namespace) -> AsyncIterator[Panel]:
    """The models to ask: from the options, the settings or recorded replies."""
    from ...sandbox import run_code
    from ...solver.models.choice import chosen_panel
    from .ask_person import ask_person

    run = partial(run_code, unsafe_local=arguments.unsafe_local)
    async with chosen_panel(
        choice,
        run,
        record_folder=session.path.parent,
        ask=ask_person,
        note=lambda text: say(f"note: {text}"),
    ) as panel:
        yield panel


def _solve_parser() -> Parser:
    about = (
        "Ask several models the pending question, run their code, and decide. The record is not\n"
        "changed without --accept or --until-end; the decision is saved in a file beside it."
    )
    parser = command("quizlog solve", solve, about)
    parser.add_argument("record")
    parser.add_argument("--accept", action="store_true", help="answer with the decision")
    parser.add_argument(
        "--until-end",
        action="store_true",
        help="answer question after question; stop where models disagree",
    )
    parser.add_argument(
        "--url", help="let the server at this URL do it; RECORD is the record's name on the server"
    )
    add_models(parser)
    add_replies(parser)
    parser.add_argument("--keep", metavar="FOLDER", help="record each reply in FOLDER")
    parser.add_argument(
        "--budget", metavar="SECONDS", type=seconds, help="time limit for each question"
    )
    add_wait(parser)
    add_unsafe_local(parser)
    return parser


PARSERS = {"solve": _solve_parser}
"""The parser function of each command."""
