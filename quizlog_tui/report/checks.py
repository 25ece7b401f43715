"""Reports on a check of records: JUnit's XML, and Markdown for the summary of a job.

No text of a record becomes markup: the library escapes it in XML; in Markdown it stands in escaped
HTML, which no table of Markdown could hold as safely, or in a fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from ..files.durable import FileKind, asked_before
from ..replay.script.needed_files import CHECK_REPORT, is_marked
from ..text import clipped, one_line, visible
from .markdown import fence

_MOST = 2_000
"""Characters of a text that are shown: the summary of a job has a limit."""
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
"""What no document of XML may hold, and `visible` leaves."""
_NOTHING = "nothing"
"""What a run shows that shows nothing, in words."""


@dataclass(frozen=True)
class CheckRow:
    """What a report says of one record."""

    record: str
    """Its path."""
    result: Literal["same", "diverges", "unverifiable", "unreadable"]
    outcome: str = "-"
    """Its status, `recorded -> replayed` if these differ."""
    score: str = "-"
    """Its score, likewise."""
    about: str = ""
    """The first step that differs and what does, or why it cannot be judged."""
    recorded: str | None = None
    """What is recorded there; None for nothing."""
    replayed: str | None = None
    """What a replay shows there; None for nothing."""
    no_text: str = _NOTHING
    """What it means if `recorded` is None, in words."""


def report_kind(*, replace_any: bool) -> FileKind:
    """A report, which is renewed at each run: one that quizlog wrote is replaced.

    Args:
        replace_any: Whether the user asked to replace whatever file is there.
    """
    return FileKind("a report", asked_before if replace_any else _is_report)


def _is_report(path: Path) -> bool:
    return is_marked(path, CHECK_REPORT)


def to_junit(rows: Sequence[CheckRow]) -> str:
    """A suite in JUnit's format with a case for each record."""
    faults = [row for row in rows if row.result != "same"]
    failures = sum(row.result == "diverges" for row in faults)
    counts = {"tests": len(rows), "failures": failures, "errors": len(faults) - failures}
    suite = ElementTree.Element(
        "testsuite", {"name": "quizlog check", **{name: str(n) for name, n in counts.items()}}
    )
    for row in rows:
        names = {"classname": "quizlog check", "name": _in_xml(one_line(row.record))}
        case = ElementTree.SubElement(suite, "testcase", names)
        if row in faults:
            _add_fault(case, row)
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{CHECK_REPORT}\n{text}\n'


def _add_fault(case: ElementTree.Element, row: CheckRow) -> None:
    kind = "failure" if row.result == "diverges" else "error"
    told = {"type": row.result, "message": _in_xml(one_line(row.about))}
    lines = [f"outcome: {row.outcome}", f"score: {row.score}"]
    if row.result == "diverges":
        lines += ["recorded:", _shown(row.recorded, row.no_text), "replayed:", _shown(row.replayed)]
    ElementTree.SubElement(case, kind, told).text = _in_xml("\n".join(lines))


def _in_xml(text: str) -> str:
    """A text with stand-ins for what XML cannot hold: control characters, halves of surrogates."""
    return _NOT_IN_XML.sub("\ufffd", visible(text))


def _shown(text: str | None, no_text: str = _NOTHING) -> str:
    return f"({no_text})" if text is None else clipped(text, _MOST)


def to_summary(rows: Sequence[CheckRow], told: str) -> str:
    """A table in Markdown of the records that are not the same, and a folded block for each.

    Args:
        rows: All records.
        told: How many there are of each result, in words of quizlog.
    """
    return "\n".join(_summary([row for row in rows if row.result != "same"], told)) + "\n"


def _summary(faults: Sequence[CheckRow], told: str) -> Iterator[str]:
    yield from (CHECK_REPORT, "", "# quizlog check", "", told, "")
    if faults:
        yield "<table>"
        yield "<tr><th>record</th><th>outcome</th><th>score</th><th>first difference</th></tr>"
        for row in faults:
            cells = (_code(row.record), escape(row.outcome), escape(row.score), _code(row.about))
            yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        yield from ("</table>", "")
    for row in faults:
        if row.result == "diverges":
            yield from ("<details>", f"<summary>{_code(row.record)}, {_code(row.about)}</summary>")
            yield from ("", "Recorded:", "", *fence(_shown(row.recorded, row.no_text)))
            yield from ("Replayed:", "", *fence(_shown(row.replayed)), "</details>", "")


def _code(text: str) -> str:
    return f"<code>{escape(one_line(text))}</code>"
