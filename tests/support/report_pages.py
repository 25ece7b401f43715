"""Reports whose every text is the same, and what an exported page consists of."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from hypothesis import strategies as st

from quizlog_tui.record.feedback import Feedback
from quizlog_tui.replay.transcript import Step
from quizlog_tui.report.document import BranchSection, ErrorSection, RecordReport
from quizlog_tui.session.timeline import TimelineRow
from quizlog_tui.text import visible

PAYLOADS = [
    "\x1b[31mred", "\x1b]0;owned\x07", "\x9b31m", "\x9d0;x", "\x00", "\x0e", "\x7f", "\u202ex", "\u2028", "\x85",
    "\r\n", "\ud800", "<script>alert(1)</script>", "</pre><img src=x onerror=y>", '"><b>', "&amp;", "]]>",
    "```\n# out", "~~~\nout", "`", "``", " ` ", "[x](javascript:y)", "# h", "| a |", "<!-- x -->", "\n\n- item", "![i](u)",
    "[red]x[/red]", "---\n", "<https://x.y>", "\\`", "",
]  # fmt: skip
TEXT = st.sampled_from(PAYLOADS) | st.text(max_size=8) | st.text("`~<>&\n #-[]()\\!", max_size=12)


def report(text: str) -> RecordReport:
    """A report with a text in every place that can hold one."""
    said = Feedback(0, text, text, text, text, text, {text: text})
    step = Step(text or None, (text, text), text, 3, text)
    asked = TimelineRow(0, step, True, (said,), ())
    end = TimelineRow(1, replace(step, input=None, prompt=None), False, (), ())
    error = ErrorSection(text, text, 3, [(2, text), (3, text)])
    who = {0: {"by": text, "name": text, "door": text, "time": text}}
    branch = BranchSection(
        text, True, text, 1, text, text, (asked, end), "error", 0.5, error, text, (said,), who
    )
    return RecordReport(text, text, 7, text, (branch,), (text,), (said,))


COLORS = re.compile(r"[a-z0-9 :;,.#%()-]+")
"""What the style of a piece of output in its own colours consists of."""


class Page(HTMLParser):
    """The tags and text of a page, but for the tags that give output its own colours."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.text = ""
        self.comments: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag != "span" or [name for name, _ in attrs] != ["style"]:
            self.tags.append((tag, tuple(attrs)))
        else:
            assert COLORS.fullmatch(attrs[0][1])

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def unsafe(text: str) -> set[str]:
    return {char for char in set(text) if visible(char) != char}
