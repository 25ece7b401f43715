"""Describes an exception and those that led to it, inside its process.

Sent to the quiz process as text, between those of `values` and `inside`; imports as told there.
Nothing of an exception is asked through its class, whose code is the script's; only its message is
made by `str`, in bounded time.
"""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:  # the text of `values` is run before this one, in the same names
    from collections.abc import Callable
    from typing import Any

    from .values import attributes_of, bounded, checked, text_of, type_name, unreadable

MOST_CAUSES = 10
"""Maximum depth of exceptions that led to each other."""
MOST_RAISED = 100
"""Maximum number of exceptions that are described, and of notes of each."""

_CAUSE, _CONTEXT, _SUPPRESSED, trace_of = (
    BaseException.__dict__[name].__get__
    for name in ("__cause__", "__context__", "__suppress_context__", "__traceback__")
)
"""What an exception holds, whatever its class says."""
_GROUP: Any = getattr(builtins, "BaseExceptionGroup", None)


class RaisedErrors:
    """Describes exceptions, each once.

    Args:
        place: The file and line of the script in which a traceback ends; None without any.
    """

    def __init__(self, place: Callable[[Any], list[Any] | None]) -> None:
        self._place = place
        self._seen: set[int] = set()

    def describe(self, error: BaseException | None, depth: int = MOST_CAUSES) -> Any:
        """An exception as data; None where there is none, or it was described, or too many are."""
        if error is None or not depth or id(error) in self._seen:
            return None
        if len(self._seen) >= MOST_RAISED:
            return None
        self._seen.add(id(error))
        relation, before = _before(error)
        cause = self.describe(before, depth - 1)
        inner = (self.describe(one, depth - 1) for one in _members(error))
        return {
            "type": type_name(type(error)),
            "message": bounded(lambda: checked(str(error)), unreadable),
            "notes": _notes(error),
            "place": self._place(trace_of(error)),
            "cause": cause,
            "relation": relation if cause else None,
            "group": [one for one in inner if one],
        }


def _before(error: BaseException) -> tuple[str, BaseException | None]:
    """The exception that an exception came from, and how, as tracebacks show them."""
    cause, context = _CAUSE(error), _CONTEXT(error)
    if cause is not None:
        return "cause", cause
    return "context", None if _SUPPRESSED(error) else context


def _members(error: BaseException) -> tuple[BaseException, ...]:
    """The exceptions in a group."""
    if _GROUP is None or not issubclass(type(error), _GROUP):
        return ()
    found: tuple[BaseException, ...] = _GROUP.__dict__["exceptions"].__get__(error)
    return found


def _notes(error: BaseException) -> list[str]:
    named = {k: v for k, v in attributes_of(error).items() if type(k) is str}
    notes = named.get("__notes__")
    if type(notes) is not list:
        return []
    return [_note_text(one) for one in notes[:MOST_RAISED]]


def _note_text(note: Any) -> str:
    return checked(note) if issubclass(type(note), str) else text_of(note)
