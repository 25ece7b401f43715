"""Transcripts made by hand, for rules that only compare them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from quizlog_tui.replay.transcript import Step, Transcript

TEXT = st.text("ab\n", max_size=3)
STOPS = st.lists(st.tuples(st.lists(TEXT, max_size=2), TEXT), min_size=1, max_size=5)
ENDS = st.sampled_from(["in_progress", "success", "error"])


def run(
    stops: list[tuple[list[str], str]], end: str = "in_progress", message: str = "no"
) -> Transcript:
    made = [Step(prompt, tuple(f"{t}\n" for t in texts), "", 1, "x") for texts, prompt in stops]
    last = replace(made.pop(), input=None)
    if end != "in_progress":
        last = replace(last, prompt=None)
    printed = AppendOnlyList(text for step in (*made, last) for text in step.print)
    error = LastError(message, 3, 0.5) if end == "error" else None
    kind = "ValueError" if error else None
    return Transcript(AppendOnlyList(made), last, end, error, error_type=kind, print=printed)  # type: ignore[arg-type]
