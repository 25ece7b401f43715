"""The words of a comparison of two runs, the same on the screen and in the shell.

Only the words of each stop: the front ends lay them out and mark what differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...replay.transcript import Step, Transcript


class StopTexts(NamedTuple):
    """What a stop shows, in order; what it does not have is empty."""

    output: str
    question: str
    answer: str
    end: str
    """How the run ended there, such as `error, score 0.5: message`."""


def stop_texts(step: Step, run: Transcript, draw: Callable[[str], str] = str) -> StopTexts:
    """The texts of a stop of a run.

    Args:
        step: The stop.
        run: The run it is a stop of.
        draw: What is made of the script's own texts.
    """
    output, question = draw("".join(step.written)), draw(step.prompt or "")
    end = "" if step.prompt is not None else _end_text(run, draw)
    return StopTexts(output, question, step.input or "", end)


def _end_text(run: Transcript, draw: Callable[[str], str]) -> str:
    score = "" if run.score is None else f", score {run.score:g}"
    if run.last_error is None:
        return f"finished{score}"
    return f"error{score}: {run.error_text(draw)}"
