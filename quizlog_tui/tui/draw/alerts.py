"""Warnings that a run cannot be trusted, for its pane and for the header."""

from __future__ import annotations

from ...replay.live_run import ENDED_BY_ANSWER
from ...replay.transcript import Transcript
from ...replay.world import TAMPERED
from ..widgets.documents import Line, line

_TAMPERED = (
    "the script reports output that differs from what it wrote. "
    "You see what it wrote, and no replay can confirm it."
)
"""What a tampered run says after its step."""


def alerts(run: Transcript) -> list[str]:
    """What is wrong with a run, in a few words each, the most serious first."""
    found = []
    if TAMPERED in run.observed:
        at = run.tampered_at
        found.append("tampered" if at is None else f"tampered at step {at}")
    if run.error_type == ENDED_BY_ANSWER:
        found.append("ended by an answer's code")
    return found


def alert_lines(shown: Transcript) -> list[Line]:
    """What is wrong up to the step shown. An end by an answer is shown as an error instead."""
    if shown.tampered_at is None:
        return []
    return [line((f"! tampered at step {shown.tampered_at}: {_TAMPERED}", "error"))]
