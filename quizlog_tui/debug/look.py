"""Looks at a script at one of its stops, in a process that is thrown away.

The run is brought to the question before; from there on its lines are watched up to the stop. What
is asked of the process is in `inside`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import LimitError, ProtocolError, UsageError
from ..replay.process.process import QuizProcess
from ..replay.replayer import Replayer
from ..replay.script.source import Source
from ..replay.world import World
from .inspection import Inspection, Trace, inspection_from, trace_from, unreadable


def inspect(
    replayer: Replayer,
    source: Source,
    world: World,
    answers: Sequence[str],
    *,
    frame: int = 0,
    expressions: Sequence[str] = (),
) -> Inspection:
    """What a script knows after these answers: at its question, where it raised, or at its end.

    Args:
        replayer: Runs the script; its runs stay as they are.
        source: The script.
        world: The world of the script.
        answers: The answers, in order.
        frame: The frame in which expressions are evaluated; 0 is the innermost.
        expressions: Expressions or statements to evaluate, one after the other.

    Raises:
        UsageError: The script does not use all answers, or there is no such frame.
        LimitError: The script, or a look at it, exceeded a limit.
        ProtocolError: The script tampered with what is sent.
        CancelledError: The replayer was cancelled meanwhile.
    """
    request = {"trace": False, "frame": frame, "expressions": list(expressions)}
    text = _looked(replayer, source, world, answers, request)
    found = inspection_from(text, len(answers), source)
    if [one.text for one in found.expressions] != list(expressions):
        raise unreadable("snapshot", len(answers), source)
    if not 0 <= frame < max(1, len(found.frames)):
        raise UsageError(f"there is no frame {frame}: the stack has {len(found.frames)}")
    status = replayer.replay(source, world, answers).status
    return replace(found, at=_AT[status])  # the script tells nobody how it ended


_AT = {"in_progress": "question", "error": "error", "success": "end"}


def trace(replayer: Replayer, source: Source, world: World, answers: Sequence[str]) -> Trace:
    """The lines that ran after the last of these answers, with the variables that each changed.

    Args:
        replayer: Runs the script; its runs stay as they are.
        source: The script.
        world: The world of the script.
        answers: The answers, in order; none for the lines before the first question.

    Raises:
        As `inspect`.
    """
    request = {"trace": True, "frame": 0, "expressions": []}
    text = _looked(replayer, source, world, answers, request)
    return trace_from(text, len(answers), source)


def _looked(
    replayer: Replayer,
    source: Source,
    world: World,
    answers: Sequence[str],
    request: dict[str, Any],
) -> str:
    """What a process sends at the stop after these answers."""
    used = len(replayer.replay(source, world, answers).inputs)
    if used < len(answers):
        raise UsageError(f"the script asks only {used} of these {len(answers)} questions")
    process = _before(replayer, source, world, answers)
    try:
        return _look(process, source, answers[-1:], request)
    except LimitError as error:
        if isinstance(error, ProtocolError):
            raise
        message = f"the look was ended, not the script: {error.message}"
        raise LimitError(message, where=error.where, hint=error.hint) from error
    finally:
        process.release()


def _before(
    replayer: Replayer, source: Source, world: World, answers: Sequence[str]
) -> QuizProcess:
    """A process that waits at the question before the last answer, or before the script begins."""
    if not answers:
        return QuizProcess.start(source, world, replayer.limits, waits=True)
    process = replayer.throw_away(source, world, answers[:-1])
    if process is None:
        raise UsageError("the script ends before that step")
    return process


def _look(
    process: QuizProcess, source: Source, answers: Sequence[str], request: dict[str, Any]
) -> str:
    """Bring a process to the stop, watching its lines, and return what it sends from there."""
    process.look(_inside(), json.dumps(request | {"what": "begin"}))
    process.looks(1)
    process.answer(answers)
    for _ in process.reports():
        pass
    if process.alive:
        process.look(_inside(), json.dumps(request | {"what": "show"}))
    sent = process.looks(2)
    if len(sent) < 2:
        where = source.path.name
        raise LimitError("the script ended before it could be looked at", where=where)
    return sent[1]


@cache
def _inside() -> tuple[bytes, ...]:
    """The texts of the code that runs in the quiz process, in order."""
    folder = Path(__file__).parent
    return tuple((folder / name).read_bytes() for name in ("values.py", "lines.py", "inside.py"))
