"""The screen of the guides: a list of topics or of search hits, and the text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Markdown

from ...guides import GuideSection, guide, search, sections, topics
from ...text import plural
from ..keys.bindings import bindings, screen_bindings
from ..toasts import tell
from ..widgets.documents import Line, Table, line
from ..widgets.row_list import RowList
from .base import DIALOG, QuizlogScreen
from .dialogs import AskScreen


class GuideText(VerticalScroll, inherit_bindings=False):
    """The text of a guide, scrolled by the usual keys of panes."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("pane")


class GuidesScreen(QuizlogScreen[None]):
    """Shows the guides."""

    SCOPE = "guides"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("guides")
    DEFAULT_CSS = """
    GuidesScreen {
        & #topics { width: 24; }
        & GuideText { border: round $panel; padding: 0 1; }
        & GuideText:focus { border: round $primary; }
        &.-narrow Horizontal { layout: vertical; }
        &.-narrow #topics { width: 100%; height: 6; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._rows: Sequence[GuideSection] = _titles()
        self._text = ""
        """The topic that is shown."""

    def content(self) -> ComposeResult:
        """The list, and the selected guide."""
        with Horizontal():
            yield RowList(id="topics")
            with GuideText():
                yield Markdown(open_links=False)

    def on_mount(self) -> None:
        """Show the first guide."""
        self._list(self._rows, "Guides")

    def _list(self, rows: Sequence[GuideSection], title: str) -> None:
        self._rows = rows
        found = self.query_one("#topics", RowList)
        found.border_title = title
        found.show(Table(len(rows), lambda index: _row(rows[index])), cursor=0)
        found.focus()
        self.status(
            f"{title} · {self.key('app.find')} searches all guides · "
            f"{self.key('list.choose')} reads · Escape goes back"
        )
        if rows:
            self._show(rows[0])

    @on(RowList.Moved, "#topics")
    def _look(self, event: RowList.Moved) -> None:
        if event.index < len(self._rows):
            self._show(self._rows[event.index])

    @work(exclusive=True, group="text")
    async def _show(self, section: GuideSection) -> None:
        """Show a guide, from a heading on."""
        text = self.query_one(Markdown)
        if section.topic != self._text:
            self._text = section.topic
            await text.update(guide(section.topic))
        if section.text:
            self.call_after_refresh(text.goto_anchor, section.anchor)
        else:
            self.query_one(GuideText).scroll_home(animate=False)

    @on(RowList.Chosen, "#topics")
    def action_read(self) -> None:
        """Focus the text."""
        self.query_one(GuideText).focus()

    @on(Markdown.LinkClicked)
    def _follow(self, event: Markdown.LinkClicked) -> None:
        """Follow a link to a guide."""
        file, _, anchor = event.href.partition("#")
        topic = file.removesuffix(".md") or self._text
        if topic not in topics():
            tell(self, event.href)
            return
        found = (one for one in sections(topic) if one.anchor == anchor)
        self._show(next(found, GuideSection(topic, "", "")))

    def action_find(self) -> None:
        """Ask for words, and list the sections of all guides that contain them."""
        self._search()

    @work(group=DIALOG)
    async def _search(self) -> None:
        words = await self.app.push_screen_wait(AskScreen("Search all guides for"))
        if not words:
            return
        found = await asyncio.to_thread(search, words)
        if found:
            self._list(found, f"{plural(len(found), 'hit')} for {words}")
        else:
            tell(self, "not found")

    def _back_out(self) -> None:
        """Escape: go from the hits to all guides, else leave."""
        if self._rows == _titles():
            self.leave()
        else:
            self._list(_titles(), "Guides")


def _titles() -> list[GuideSection]:
    return [GuideSection(topic, title, "") for topic, title in topics().items()]


def _row(section: GuideSection) -> Line:
    """A topic, or a topic and the heading of a hit."""
    if not section.text:
        return line(section.topic, cut=True)
    return line((f"{section.topic}: ", "dim"), section.heading, cut=True)
