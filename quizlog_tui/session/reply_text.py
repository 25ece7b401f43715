"""A reply in words: what a questionnaire shows, and where it stands.

Foreign text goes through the gate of `text` here, so that whoever shows it need not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..replay.transcript import Step
from ..text import one_line, plural, visible
from .reply import Reply
from .session import Session

_MOST_EXIT_LINES = 20
"""Lines of what a script says where it leaves with an exit status."""


def questionnaire(reply: Reply, draw: Callable[[str], str] = visible) -> str:
    """The printed output with each answer after its question, as whole lines.

    Args:
        reply: Where the questionnaire stands.
        draw: Makes what the script printed safe to show.
    """
    steps = reply.new_steps
    text = "".join(written_text(step, draw) + asked_text(step, draw) for step in steps)
    return text if not text or text.endswith("\n") else f"{text}\n"


def written_text(step: Step, draw: Callable[[str], str]) -> str:
    """What the script printed before the question of a step."""
    return draw("".join(step.written))


def asked_text(step: Step, draw: Callable[[str], str]) -> str:
    """The question of a step, and the answer on the question's line."""
    if step.prompt is None:
        return ""
    answer = "" if step.input is None else f"{visible(step.input)}\n"
    return f"{draw(step.prompt)}{answer}"


def state_lines(session: Session, reply: Reply, *, source: bool = True) -> Iterator[str]:
    """Where the questionnaire stands: finished, waiting, or the error.

    Args:
        session: The open record.
        reply: Its reply.
        source: Whether an error may show the script's lines and what it wrote to stderr.
    """
    behind = len(session.record.inputs) - reply.pointer
    ahead = f", {plural(behind, 'recorded answer')} ahead" if behind else ""
    where = f"step {reply.pointer}, branch {one_line(reply.branch)}{ahead}"
    if reply.status == "success":
        yield f"-- finished: score 1 ({where})"
    elif reply.status == "in_progress":
        kind = "/".join(reply.choices) or str(reply.input_type)
        yield f"-- waiting for an answer: {one_line(kind)} ({where})"
    elif reply.last_error and source:
        yield from error_lines(session, reply)
    elif reply.last_error:
        said = one_line(reply.transcript.error_text())
        yield f"-- error: {said} (score {reply.last_error.score:g})"


def error_lines(session: Session, reply: Reply) -> Iterator[str]:
    """The exception, its score, and the source around its line."""
    from ..terminal_text import plain_lines  # no run needs it that asks on

    error = reply.last_error
    if error is None:
        return
    file, line = session.source.at(error.place, error.line)
    place = f"{error.place or f'{file.path.name}:{line}'}: " if line else ""
    said = one_line(reply.transcript.error_text())
    yield f"-- error: {one_line(place)}{said} (score {error.score:g})"
    for number, text in file.excerpt(line) if line else ():
        mark = ">" if number == line else " "
        yield f" {mark} {number:4} {one_line(text)}"
    if reply.transcript.error_type == "ModuleNotFoundError":
        yield f"   {one_line(session.source.missing_module_hint)}"
    for text in plain_lines(reply.transcript.exit_text)[-_MOST_EXIT_LINES:]:
        yield f"   stderr: {one_line(text)}"
