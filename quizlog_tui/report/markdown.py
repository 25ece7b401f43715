"""Renders a report as Markdown whose structure no text of a script or record can break.

All untrusted text stands in a code span or fence with more backticks than any run in the text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from ..record.feedback import Feedback
from ..replay.script.needed_files import EXPORT
from ..session.timeline import TimelineRow
from ..terminal_text import plain
from ..text import one_line, visible
from .document import (
    BranchSection,
    ErrorSection,
    RecordReport,
    given,
    length,
    outcome,
    place,
    signed,
    when,
)


def to_markdown(report: RecordReport) -> str:
    """The report as a Markdown document."""
    return "\n".join(_document(report)) + "\n"


def code(text: str) -> str:
    """Untrusted text as a code span on one line."""
    shown = one_line(text)
    if not shown:
        return "(empty)"
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.strip(" ") and (shown[0] in "` " or shown[-1] in "` ") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fence(text: str) -> list[str]:
    """Untrusted text as the lines of a fenced block."""
    shown = visible(text).removesuffix("\n")
    ticks = "`" * max(_longest_run(shown) + 1, 3)
    return [f"{ticks}text", shown, ticks, ""]


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _document(report: RecordReport) -> Iterator[str]:
    yield from (EXPORT, "", f"# Questionnaire {code(report.script)}", "")
    yield f"- record: {code(report.record)}"
    yield f"- seed: {report.seed}"
    if report.args:
        yield f"- arguments: {code(shlex.join(report.args))}"
    yield f"- script: {code(report.code_hash)}"
    yield from (f"- note: {code(warning)}" for warning in report.warnings)
    yield ""
    yield from _remarks(report.remarks, apart=True)
    for branch in report.branches:
        yield from _branch(branch)


def _branch(branch: BranchSection) -> Iterator[str]:
    active = ", active" if branch.active else ""
    ends = outcome(branch.status, branch.score)
    yield from (f"## Branch {code(branch.name)}: {ends}, {length(branch)}{active}", "")
    if branch.parent is not None:
        yield f"- forks from {code(branch.parent)} at step {branch.at}"
    if branch.created:
        yield f"- created: {code(when(branch.created))}"
    if branch.note:
        yield f"- note: {code(branch.note)}"
    if branch.problem:
        yield f"- could not be run: {code(branch.problem)}"
    yield ""
    yield from _remarks(branch.remarks, apart=False)
    for row in branch.rows:
        yield from _row(row, given(branch, row.at), ends)
    if branch.error:
        yield from _error(branch.error)


def _row(row: TimelineRow, who: Sequence[str], ends: str) -> Iterator[str]:
    line = "" if row.line is None else f", line {row.line}"
    line += f", {code(row.step.place)}" if row.step.place else ""
    ran = ", the answer ran as code" if row.code else ""
    yield from (f"### Step {row.at}{line}{ran}", "")
    shown = plain("".join(row.step.written)) + plain(row.step.prompt or "")
    if shown:
        yield from fence(shown)
    if row.step.stderr:
        yield from ("On stderr:", "", *fence(plain(row.step.stderr)))
    by = f" ({', '.join(map(code, who))})" if who else ""
    if row.answer is None:
        yield from (f"The branch ends here: {ends}", "")
    elif "\n" in row.answer:
        yield from (f"Answer{by}:", "", *fence(row.answer))
    else:
        yield from (f"Answer{by}: {code(row.answer)}", "")
    yield from _remarks(row.notes, apart=False)


def _error(error: ErrorSection) -> Iterator[str]:
    file = f" in {code(error.file)}," if error.file else " in"
    line = "" if error.line is None else f"{file} line {error.line}"
    kind = f"{code(error.kind)}: " if error.kind else ""
    yield from (f"Error{line}: {kind}{code(plain(error.message))}", "")
    if error.excerpt:
        rows = (
            f"{'>' if number == error.line else ' '} {number:4}  {one_line(text)}"
            for number, text in error.excerpt
        )
        yield from fence("\n".join(rows))
    if error.said:
        yield from fence(plain(error.said))


def _remarks(remarks: Iterable[Feedback], *, apart: bool) -> Iterator[str]:
    lines = [_remark(remark, place(remark) if apart else []) for remark in remarks]
    yield from [*lines, ""] if lines else []


def _remark(remark: Feedback, place: list[str]) -> str:
    words = ", ".join(code(word) for word in [*place, *signed(remark)])
    head = f"- remark {words}" if words else "- remark"
    return f"{head}: {code(remark.text)}" if remark.text else head
