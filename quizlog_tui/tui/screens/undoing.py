"""Undo and redo as the screens make them: each says what it took back or did again."""

from __future__ import annotations

from ...session.session import Session


def undo(session: Session, then: str = "") -> str:
    """Take the last change back; what that was, and what one can do then."""
    label = session.can_undo  # asked when its turn has come: other changes may go before
    if label is None:
        return "nothing to take back"
    session.undo()
    return f"undone: {label}{then}"


def redo(session: Session) -> str:
    """Make the change again that was taken back; what that was."""
    label = session.can_redo
    if label is None:
        return "nothing to do again"
    session.redo()
    return f"done again: {label}"
