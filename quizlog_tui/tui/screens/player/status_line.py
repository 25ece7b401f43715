"""The line at the top of the player: where one is, how the record stands, what is unusual."""

from __future__ import annotations

from ....session.session import Session
from ....text import plural
from ...draw.status import alerts, outcome
from .player_state import PlayerState


def status_text(session: Session, state: PlayerState, playing: str) -> str:
    """The text of the line.

    Args:
        session: The open record.
        state: What is shown of it.
        playing: What is said of steps that are played automatically.
    """
    at, shown = state.step, state.shown
    name = f"{session.path.parent.resolve().name}/{session.path.name}"
    where = f"step {at} of {len(state.whole.steps)}"
    if state.head.hidden:
        where += f", {plural(state.head.hidden, 'event')} before its question"
    if at != session.pointer:
        where += f" (pointer at {session.pointer})"
    slow = f" · rewinds replay: {shown.tainted}" if shown.tainted else ""
    recorded = "as recorded, not run" if session.missing else ""
    alarm = [f"! {alert}" for alert in alerts(state.whole)]
    standing = [where, f"branch {session.record.branch}{playing}"]
    found = state.finding.text if state.finding else ""
    result = outcome(session.transcript.status, session.transcript.score)
    standing.insert(2 if found else 0, result)  # a finding is about the place
    said = filter(None, (recorded, *alarm, found, *standing, f"{name}{slow}"))
    return " · ".join(said)
