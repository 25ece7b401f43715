"""What makes a run one that is not to be believed: said where one looks, and in the header."""

from __future__ import annotations

from ...replay.live_run import ENDED_BY_ANSWER
from ...replay.transcript import Transcript
from ...replay.world import TAMPERED
from ..widgets.lines.documents import Line, line

_WHY = "what the script says it printed is not what it wrote. Its bytes are shown, and no replay"
"""Why a tampered run is shown as it is."""


def alerts(run: Transcript) -> list[str]:
    """What is wrong with a run, in a few words each, the gravest first."""
    found = []
    if TAMPERED in run.observed:
        at = run.tampered_at
        found.append("tampered" if at is None else f"tampered at step {at}")
    if run.error_type == ENDED_BY_ANSWER:
        found.append("ended by an answer's code")
    return found


def alert_lines(shown: Transcript) -> list[Line]:
    """What was found wrong up to the step shown; an end by an answer is told as an error."""
    if shown.tampered_at is None:
        return []
    return [line((f"! tampered at step {shown.tampered_at}: {_WHY} can vouch for it.", "error"))]
