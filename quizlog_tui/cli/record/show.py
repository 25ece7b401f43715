"""Shows a questionnaire as text: answered questions on stdout, its state on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...replay.transcript import Step
from ...session.reply import BranchInfo, Reply
from ...session.session import Session
from ...terminal_text import plain, plain_lines
from ...text import one_line, plural, told_apart, visible
from ..streams import drawing

_MOST_EXIT_LINES = 20
"""Lines of what a script says where it leaves with an exit status."""


def show_questionnaire(reply: Reply, *, with_stderr: bool) -> None:
    """Write the printed output with each answer after its question.

    Args:
        reply: Where the questionnaire stands.
        with_stderr: Whether to write to stderr what the script wrote there, in its place.
    """
    draw, draw_stderr = drawing(sys.stdout), drawing(sys.stderr)
    end = "\n"
    for step in reply.new_steps:
        written, asked = draw("".join(step.written)), _asked(step, draw)
        sys.stdout.write(written)
        if with_stderr and step.stderr:
            sys.stdout.flush()
            sys.stderr.write(_ended(draw_stderr(step.stderr)))
        sys.stdout.write(asked)
        end = (end + written + asked)[-1]
    sys.stdout.write("" if end == "\n" else "\n")
    sys.stdout.flush()


def _asked(step: Step, draw: Callable[[str], str]) -> str:
    """The question of a step, and the answer on the question's line."""
    if step.prompt is None:
        return ""
    answer = "" if step.input is None else f"{visible(step.input)}\n"
    return f"{draw(step.prompt)}{answer}"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def say(text: str) -> None:
    """Write a one-line message to stderr."""
    print(f"quizlog: {one_line(text)}", file=sys.stderr)


def narrate(session: Session, reply: Reply) -> None:
    """Write to stderr: status, error, and the next possible command."""
    for line in _narration(session, reply):
        print(line, file=sys.stderr)


def narrate_warnings(session: Session) -> None:
    """Write the warnings about the record to stderr."""
    for warning in session.warnings:
        print(f"quizlog: note: {one_line(warning)}", file=sys.stderr)


def _narration(session: Session, reply: Reply) -> Iterator[str]:
    behind = len(session.record.inputs) - reply.pointer
    ahead = f", {plural(behind, 'recorded answer')} ahead" if behind else ""
    where = f"step {reply.pointer}, branch {one_line(reply.branch)}{ahead}"
    name = one_line(reply.record)
    if reply.status == "success":
        yield f"-- finished: score 1 ({where})"
    elif reply.status == "in_progress":
        kind = "/".join(reply.choices) or str(reply.input_type)
        yield f"-- waiting for an answer: {one_line(kind)} ({where})"
        yield f"   quizlog {name} ANSWER"
    elif reply.last_error:
        yield from error_lines(session, reply)
        again = reply.pointer and f"   quizlog {name} ANSWER tries the last question again"
        yield again or "   the script raises before its first question"


def error_lines(session: Session, reply: Reply) -> Iterator[str]:
    """The exception, its score, and the source around its line."""
    error = reply.last_error
    if error is None:
        return
    file, line = session.source.at(error.place, error.line)
    place = f"{error.place or f'{file.path.name}:{line}'}: " if line else ""
    kind = reply.transcript.error_type
    said = plain(error.message) or kind or "error"
    prefix = f"{kind}: " if kind not in (None, "Exception", "SystemExit") else ""
    yield f"-- error: {one_line(place)}{one_line(prefix + said)} (score {error.score:g})"
    for number, text in file.excerpt(line) if line else ():
        mark = ">" if number == line else " "
        yield f" {mark} {number:4} {one_line(text)}"
    if kind == "ModuleNotFoundError":
        yield f"   {one_line(session.source.missing_module_hint)}"
    for text in plain_lines(reply.transcript.exit_text)[-_MOST_EXIT_LINES:]:
        yield f"   stderr: {one_line(text)}"


def why(reason: str | None) -> str:
    """The text of `--explain`: whether returning to this step is instant."""
    if reason is None:
        return "returning to this step is instant"
    return f"returning here runs the script again from an earlier step: {reason}"


def sweep_lines(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table: answer, outcome, score, next question or error."""
    width = max(len(one_line(row["answer"])) for row in rows)
    for row in rows:
        score = "" if row["score"] is None else f"  score {row['score']:g}"
        said = row.get("next_prompt") or row["error"] or ""
        status = row["status"] or "stopped"
        parted = "" if row.get("differs") is None else f"  differs at step {row['differs']}"
        words = f"{status}{score}{parted}  {one_line(said)}"
        yield f"{one_line(row['answer']):{width}}  {words}".rstrip()


def branch_lines(branches: Sequence[BranchInfo]) -> Iterator[str]:
    """A table of branches; the active one has a mark."""
    names = told_apart(branch.name for branch in branches)
    width = max(map(len, names.values()))
    for branch in branches:
        mark = "*" if branch.active else " "
        parent = names.get(branch.parent or "", branch.parent)
        left = f"from {parent} at step {branch.at}" if branch.parent else "from the start"
        score = "" if branch.score is None else f", score {branch.score:g}"
        note = f"  {one_line(branch.note)}" if branch.note else ""
        gone = f", deleted {one_line(branch.deleted)}" if branch.deleted else ""
        yield (
            f"{mark} {names[branch.name]:{width}}  {plural(branch.length, 'answer')}, "
            f"{one_line(left)}, {branch.status or 'not replayed'}{score}{gone}{note}"
        )
