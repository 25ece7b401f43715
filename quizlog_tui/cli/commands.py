"""What each command does: open a session, make one move, show the reply."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from ..errors import UsageError
from ..paths import record_path
from ..replay.replayer import CHECKPOINTS, Replayer
from ..reply import Reply
from ..session import Session
from ..text import one_line
from . import emit_json
from .show import (
    branch_lines,
    narrate,
    narrate_warnings,
    questionnaire,
    sweep_lines,
    sweep_row,
    why,
)


def record(arguments: Namespace) -> int:
    """`quizlog [RECORD [ANSWER]]`."""
    if arguments.record is None:
        if arguments.json or arguments.raw or arguments.stdin:
            raise UsageError("which record?", hint="quizlog RECORD [ANSWER]")
        return tui(arguments)
    answer = _answer(arguments)
    with _one_move(arguments, checkpoints=1 if arguments.explain else 0) as session:
        if answer is None:
            return _show(session, arguments, session.reply())
        reply = session.answer(answer)
        since = reply.pointer if arguments.new else 0
        return _show(session, arguments, session.reply(since=since))


@contextmanager
def _one_move(arguments: Namespace, *, checkpoints: int = 0) -> Iterator[Session]:
    """The record's session; a process that makes one move and ends has no use for checkpoints."""
    path = record_path(arguments.record)
    with Replayer(checkpoints=checkpoints) as replayer, Session(path, replayer) as session:
        yield session


def _answer(arguments: Namespace) -> str | None:
    if not arguments.stdin:
        answer: str | None = arguments.answer
        return answer
    if arguments.answer is not None:
        raise UsageError("two answers: one given, one on stdin", hint="leave one out")
    data = sys.stdin.buffer.read()
    return data.decode("utf-8", "surrogateescape").removesuffix("\n")


def new(arguments: Namespace) -> int:
    """`quizlog new SCRIPT`."""
    import random

    from ..new_record import new_record

    script = Path(arguments.script)
    target = Path(arguments.output) if arguments.output else script.with_suffix(".yaml")
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
    new_record(script, target, seed)
    with Session(target) as session:
        return _show(session, arguments, session.reply())


def rewind(arguments: Namespace) -> int:
    """`quizlog rewind RECORD K`."""
    with _one_move(arguments) as session:
        return _show(session, arguments, session.rewind(arguments.step))


def fork(arguments: Namespace) -> int:
    """`quizlog fork RECORD K ANSWER`."""
    with _one_move(arguments) as session:
        reply = session.fork(arguments.step, arguments.answer, arguments.name)
        return _show(session, arguments, reply)


def switch(arguments: Namespace) -> int:
    """`quizlog switch RECORD NAME`."""
    with _one_move(arguments) as session:
        return _show(session, arguments, session.switch(arguments.name))


def branches(arguments: Namespace) -> int:
    """`quizlog branches RECORD`."""
    with _one_move(arguments) as session:
        found = session.branches
        if arguments.json:
            emit_json({"record": str(session.path), "branches": [asdict(b) for b in found]})
        else:
            print("\n".join(branch_lines(found)))
        return 0


def amend(arguments: Namespace) -> int:
    """`quizlog amend RECORD K ANSWER`."""
    with _one_move(arguments) as session:
        return _show(session, arguments, session.amend(arguments.step, arguments.answer))


def bisect(arguments: Namespace) -> int:
    """`quizlog bisect RECORD`."""
    with _one_move(arguments, checkpoints=CHECKPOINTS) as session:
        culprit = session.bisect()
        step = session.preview().steps[culprit.step] if culprit else None
        if arguments.json:
            emit_json(
                {
                    "step": culprit and culprit.step,
                    "prompt": step and step.prompt,
                    "input": step and step.input,
                    "replays": culprit and culprit.replays,
                }
            )
        elif step is None or culprit is None:
            print("no answer spoils the outcome")
        else:
            where = f"step {culprit.step}: {step.prompt or ''}{step.input or ''}"
            print(one_line(where))
        return 0


def sweep(arguments: Namespace) -> int:
    """`quizlog sweep RECORD K ANSWER...`."""
    with _one_move(arguments, checkpoints=CHECKPOINTS) as session:
        found = session.fan_out(arguments.step, arguments.answers)
        rows = [
            sweep_row(answer, one) for answer, one in zip(arguments.answers, found, strict=True)
        ]
        if arguments.json:
            emit_json({"record": str(session.path), "step": arguments.step, "results": rows})
        else:
            print("\n".join(sweep_lines(rows)))
        return 0


def tui(arguments: Namespace) -> int:
    """`quizlog tui [RECORD]`."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = "in a pipe use `quizlog RECORD [ANSWER]`"
        raise UsageError("the screens need a terminal", hint=hint)
    from ..tui.app import run

    return run(record_path(arguments.record) if arguments.record else None)


def doctor(arguments: Namespace) -> int:
    """`quizlog doctor`."""
    from .doctor import findings

    found = findings()
    if arguments.json:
        emit_json({"findings": [asdict(item) for item in found]})
    else:
        for item in found:
            print(f"{'ok     ' if item.ok else 'missing'}  {item.name}: {item.says}")
    return 0


def _show(session: Session, arguments: Namespace, reply: Reply) -> int:
    """Show where the questionnaire stands; the exit code."""
    raw = getattr(arguments, "raw", False)
    narrate_warnings(session)
    if getattr(arguments, "explain", False):
        print(f"quizlog: {one_line(why(session.explain()))}", file=sys.stderr)
    if raw:
        sys.stdout.buffer.write(reply.transcript.stdout_bytes)
        sys.stderr.write(reply.transcript.stderr)
    elif arguments.json:
        emit_json(reply.to_dict())
    else:
        print(questionnaire(reply), end="")
        sys.stdout.flush()
        narrate(session, reply)
    return 1 if reply.status == "error" else 0
