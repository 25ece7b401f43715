"""`quizlog solve --url`: a server asks its models the question of one of its records."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...text import one_line
from ..json_output import emit_json
from ..record.show import say
from ..web.serve import TOKEN
from .decision_show import decision_lines, short

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...solver.backend import Accept, Backend, Solved
    from ...solver.solve import Progress

    Tell = Callable[[Progress], None]


async def solve_remotely(arguments: Namespace, tell: Tell) -> Solved:
    """Solve the question, or question after question while models agree; the last one's outcome.

    Raises:
        UsageError: An option that only makes sense on this machine was given.
        BackendError: The server refuses, or cannot be reached.
    """
    from ...solver.backend import Backend

    _check_options(arguments)
    accept: Accept = "always" if arguments.accept else "never"
    accept = "agreed" if arguments.until_end else accept
    made: list[dict[str, Any]] = []
    async with Backend(arguments.url, os.environ.get(TOKEN, "").strip() or None) as backend:
        while True:
            solved = await _solve_one(backend, arguments, accept, tell)
            made.append(_data(solved))
            ended = solved.reply is None or solved.reply.get("status") != "in_progress"
            if not arguments.until_end or ended:
                break
    if arguments.json:
        emit_json({"decisions": made} if arguments.until_end else made[0])
    return solved


async def _solve_one(backend: Backend, arguments: Namespace, accept: Accept, tell: Tell) -> Solved:
    solved = await backend.solve(
        arguments.record, accept=accept, budget=arguments.budget, tell=tell
    )
    if not arguments.json:
        print("\n".join(decision_lines(solved.decision)), flush=True)
    if solved.reply is not None:
        _narrate(solved.reply)
    return solved


def _narrate(reply: Any) -> None:
    error = reply.get("last_error") or {}
    said = f": {one_line(str(error.get('message')))}" if error else ""
    score = reply.get("score")
    outcome = "" if score is None else f", score {score:g}"
    where = f"step {reply.get('pointer')}, branch {one_line(str(reply.get('branch')))}"
    say(f"answered: {short(str(reply.get('status')))}{outcome} ({where}){said}")


def _data(solved: Solved) -> dict[str, Any]:
    from ...solver.decisions.decision_text import to_data

    said = {"decision": to_data(solved.decision), "agreed": solved.agreed}
    return said | {"reply": solved.reply}


def _check_options(arguments: Namespace) -> None:
    """Refuse options about models, which the server chooses."""
    for name in ("models", "replay", "keep", "unsafe_local"):
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            hint = "the server was told at its start which models it asks"
            raise UsageError(f"{option} does not go with --url", hint=hint)
