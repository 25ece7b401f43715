"""Runs and comparisons that tests of drawing share."""

from __future__ import annotations

from dataclasses import replace

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.tui.screens.compare import Comparison, DrawnSide


def run(*stops: tuple[str, str, str], error: str | None = None) -> Transcript:
    """A run whose stops print, ask, and are answered; the last one is not."""
    made = [Step(prompt, (text,), "", 1, answer) for text, prompt, answer in stops]
    last = replace(made.pop(), input=None)
    if error is None:
        return Transcript(AppendOnlyList(made), last, "in_progress")
    last = replace(last, prompt=None)
    return Transcript(AppendOnlyList(made), last, "error", LastError(error, 3, 0.5), "Exception")


def compare(a: Transcript, b: Transcript) -> Comparison:
    return Comparison(DrawnSide("main", a), DrawnSide("fork-1", b))
