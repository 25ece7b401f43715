"""What each command does: open a session, make one move, show the reply."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from ..errors import UsageError
from ..new_record import new_record
from ..paths import record_path
from ..reply import Reply
from ..session import Session
from . import emit_json
from .show import branch_lines, narrate, narrate_warnings, questionnaire


def record(arguments: Namespace) -> int:
    """`quizlog [RECORD [ANSWER]]`."""
    if arguments.record is None:
        if arguments.json or arguments.raw or arguments.stdin:
            raise UsageError("which record?", hint="quizlog RECORD [ANSWER]")
        return tui(arguments)
    answer = _answer(arguments)
    with Session(record_path(arguments.record)) as session:
        if answer is None:
            return _show(session, arguments, session.reply())
        reply = session.answer(answer)
        since = reply.pointer if arguments.new else 0
        return _show(session, arguments, session.reply(since=since))


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

    script = Path(arguments.script)
    target = Path(arguments.output) if arguments.output else script.with_suffix(".yaml")
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
    new_record(script, target, seed)
    with Session(target) as session:
        return _show(session, arguments, session.reply())


def rewind(arguments: Namespace) -> int:
    """`quizlog rewind RECORD K`."""
    with Session(record_path(arguments.record)) as session:
        return _show(session, arguments, session.rewind(arguments.step))


def fork(arguments: Namespace) -> int:
    """`quizlog fork RECORD K ANSWER`."""
    with Session(record_path(arguments.record)) as session:
        reply = session.fork(arguments.step, arguments.answer, arguments.name)
        return _show(session, arguments, reply)


def switch(arguments: Namespace) -> int:
    """`quizlog switch RECORD NAME`."""
    with Session(record_path(arguments.record)) as session:
        return _show(session, arguments, session.switch(arguments.name))


def branches(arguments: Namespace) -> int:
    """`quizlog branches RECORD`."""
    with Session(record_path(arguments.record)) as session:
        found = session.branches
        if arguments.json:
            emit_json({"record": str(session.path), "branches": [asdict(b) for b in found]})
        else:
            print("\n".join(branch_lines(found)))
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
