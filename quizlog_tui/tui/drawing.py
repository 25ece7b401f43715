"""How a run is put into lines: pure functions from transcripts to `Line`s, no widgets.

Status is never told by colour alone: each has a mark of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..branch_list import BranchInfo
from ..replay.transcript import Step, Transcript
from ..session import Session
from ..text import one_line, plural
from .widgets.line_view import Line, line

MARKS = {"in_progress": "●", "success": "✓", "error": "✗", None: "?"}
"""A sign for each status."""
WORDS = {"in_progress": "waiting", "success": "finished", "error": "error", None: "not replayed"}
"""The same in words."""


def output_lines(transcript: Transcript) -> list[Line]:
    """All that was printed and asked, each answer in its place."""
    lines: list[Line] = []
    for step in (*transcript.steps, transcript.last):
        lines += _step_lines(step)
    return lines


def _step_lines(step: Step) -> list[Line]:
    lines = [line(text) for text in "".join(step.written).split("\n")]
    if not lines[-1].pieces[0][0]:
        lines.pop()
    if step.prompt is None:
        return lines
    *before, asked = step.prompt.split("\n")
    lines += [line((text, "prompt")) for text in before]
    if step.input is None:
        return [*lines, line((asked, "prompt"), ("▏", "dim"))]
    first, *rest = step.input.split("\n")
    lines.append(line((asked, "prompt"), (first, "answer")))
    return lines + [line((text, "answer")) for text in rest]


def timeline_lines(steps: Sequence[Step], end: Transcript, pointer: int) -> list[Line]:
    """A line for each recorded answer and one for where the run stands after the last.

    Answers after the pointer are dim: they are recorded but not in use.
    """
    lines = []
    for index, step in enumerate(steps):
        style = "dim" if index >= pointer else ""
        mark = "▸" if index == pointer else " "
        asked = one_line((step.prompt or "").strip()) or "(no prompt)"
        answer = one_line(step.input or "") or "(empty)"
        lines.append(
            line(
                (f"{mark}{index:3} ", "dim"),
                (answer, style or "answer"),
                (f"  {asked}", "dim"),
                cut=True,
            )
        )
    mark = "▸" if pointer == len(steps) else " "
    words = f"{MARKS[end.status]} {WORDS[end.status]}{score_text(end.score)}"
    name = {"error": "error", "success": "good"}.get(end.status, "")
    return [*lines, line((f"{mark}{len(steps):3} ", "dim"), (words, name))]


def score_text(score: float | None) -> str:
    """`, score 0.5`, or nothing where there is no score."""
    return "" if score is None else f", score {score:g}"


def error_lines(transcript: Transcript, session: Session) -> list[Line]:
    """Message, line, score, and the source around the line."""
    error = transcript.last_error
    if error is None:
        return []
    kind = transcript.error_type
    name = f"{kind}: " if kind and kind != "Exception" else ""
    source = session.source
    place = f"{source.path.name}, line {error.line}" if error.line else source.path.name
    lines = [
        line((f"✗ {name}{error.message}", "error")),
        line((place, "dim"), f"{score_text(error.score)}"),
    ]
    for number in range((error.line or -9) - 2, (error.line or -9) + 3):
        if 0 < number <= len(source.lines):
            here = number == error.line
            text = f"{'▶' if here else ' '} {number:4} {source.line(number)}"
            lines.append(line((text, "error" if here else "dim"), cut=True))
    return lines


def branch_text(branch: BranchInfo) -> str:
    """A branch on one line, for lists."""
    left = f" from {branch.parent} at step {branch.at}" if branch.parent else ""
    outcome = f"{MARKS[branch.status]} {WORDS[branch.status]}{score_text(branch.score)}"
    active = "* " if branch.active else "  "
    return one_line(f"{active}{branch.name}  {plural(branch.length, 'answer')}{left}  {outcome}")
