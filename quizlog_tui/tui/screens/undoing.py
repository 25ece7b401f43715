"""Undo and redo for the screens, with a message that names the change."""

from __future__ import annotations

from ...session.session import Session


def undo(session: Session, then: str = "") -> str:
    """Undo the last change; the message about it, with a hint `then`."""
    label = session.can_undo  # asked when its turn has come: other changes may go before
    if label is None:
        return "nothing to undo"
    session.undo()
    return f"undone: {label}{then}"


def redo(session: Session) -> str:
    """Redo the change that was undone; the message about it."""
    label = session.can_redo
    if label is None:
        return "nothing to redo"
    session.redo()
    return f"redone: {label}"
