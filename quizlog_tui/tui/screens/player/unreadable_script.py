"""The player for a record whose script cannot be read: its texts and the refused keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ....replay.script.source import Source
from ....replay.transcript import Transcript
from ....session.session import Session
from ...toasts import complain

P = ParamSpec("P")
T = TypeVar("T")
NO_QUESTION = "(the question is not recorded)"
"""Shown if the record does not contain the question."""


def needs_script(action: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], None]:
    """Decorate an action so that it shows an error if the script cannot be read.

    The action is a method of a part of the player that has a `session` and a `view`.
    """

    @wraps(action)
    def checked(part: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if part.session.missing is not None:
            complain(part.view, part.session.missing)
        else:
            action(part, *args, **kwargs)

    return checked


def recorded_text(session: Session, shown: Transcript, hidden: int, reload: str) -> str:
    """The text in place of the input: the recorded question, and how to repair the record.

    Args:
        session: The open record.
        shown: The run as it is recorded, up to the step shown.
        hidden: Events of that step which are not shown yet.
        reload: The key that reads the record and its script again.
    """
    error = session.missing
    asked = shown.status == "in_progress" and not hidden
    question = f"{shown.next_prompt or NO_QUESTION}\n" if asked else ""
    why = f"{session.record.script}: {error.message}" if error else ""
    mend = f"Put it back, or edit `script:` in {session.path.name}; then press {reload}."
    return f"{question}Nothing can be run. {why}. {mend}"


def source_to_draw(session: Session) -> Source:
    """The script; an empty one if it cannot be read."""
    if session.missing is None:
        return session.source
    return Source(session.path.parent / session.record.script, b"")
