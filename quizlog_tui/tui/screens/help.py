"""Help: the keys of a screen, made from the table of actions and the key map, and the guides."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Markdown

from ...guides import TOPICS, GuideSection, search, sections
from ...session.audit import Audit
from ...text import plural
from ..keys.actions import ACTIONS, Action
from ..keys.keymap import bindings, effective, shown_key
from ..keys.own_commands import own_actions
from ..toasts import tell
from ..widgets.documents import Line, Paragraphs, Table, line
from ..widgets.row_list import RowList
from .base import DIALOG, QuizlogScreen

_TITLES = {"list": "In lists", "pane": "In text", "app": "Everywhere"}

_STEPS = (
    "Step K is the question asked after K answers: the first question "
    "at step 0. A number such as [24/40] in a question is the script's own."
)
_PAINT_SECONDS = 0.02
"""Seconds between two parts of a guide, for painting and keys."""


class HelpScreen(QuizlogScreen[None]):
    """Shows the keys of the screen of a scope, what they do, and which its audit mode locks."""

    SCOPE = "help"

    def __init__(self, scope: str, audit: Audit | None) -> None:
        super().__init__()
        self._of = scope
        self._locked = audit

    def on_mount(self) -> None:
        """Draw the table."""
        guides = f"{self.key('help.guides')} opens the guides"
        about = f"Keys of the {self._of} screen · {guides} · / finds · Escape goes back"
        own = own_actions(self.program.own_commands, self._of)
        lines = _help_lines(self._of, dict(self.app._keymap), own, self._locked)
        self.show_text("", about, Paragraphs(lines))

    def action_guides(self) -> None:
        """Open the guides."""
        self.app.push_screen(_GuidesScreen())


def _help_lines(
    scope: str, keys: dict[str, str], own: Sequence[Action], audit: Audit | None
) -> list[Line]:
    """The table: the screen's own actions, the user's, those of its panes, then everywhere's."""
    lines = [line(_STEPS), line("")] if scope == "player" else []
    for name in dict.fromkeys((scope, "list", "pane", "app")):
        if name in ACTIONS:
            lines += [line((_TITLES.get(name, "On this screen"), "head"))]
            lines += [*_lines(ACTIONS[name], keys, audit), line("")]
        if name == scope and own:
            named = [replace(each, help=f"{each.label}: {each.help}") for each in own]
            lines += [line(("Your own commands", "head")), *_lines(named, keys, audit), line("")]
    return lines[:-1]


def _lines(actions: Sequence[Action], keys: dict[str, str], audit: Audit | None) -> Iterator[Line]:
    for action in actions:
        shown = " ".join(shown_key(key) for key in effective(action, keys))
        locked = " (locked)" if action.is_refused(audit) else ""
        yield line((f"  {shown:<16} ", "answer"), action.help, (locked, "dim"))


class _GuideText(VerticalScroll, inherit_bindings=False):
    """The text of a guide, scrolled by the usual keys of panes."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("pane")


class _GuidesScreen(QuizlogScreen[None]):
    """Shows the guides."""

    SCOPE = "guides"
    DEFAULT_CSS = """
    _GuidesScreen {
        & #topics { width: 30; }
        & _GuideText { border: round $panel; padding: 0 1; }
        & _GuideText:focus { border: round $primary; }
        &.-narrow Horizontal { layout: vertical; }
        &.-narrow #topics { width: 100%; height: 6; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._hits: Sequence[GuideSection] = ()
        """The parts of guides that were found; all guides are listed if there are none."""
        self._topic = ""
        """The guide that is shown."""

    def content(self) -> ComposeResult:
        """The list, and the selected guide."""
        with Horizontal():
            yield RowList(id="topics")
            with _GuideText():
                yield Markdown(open_links=False)

    def on_mount(self) -> None:
        """Show the first guide."""
        self._list((), "Guides")

    def _list(self, hits: Sequence[GuideSection], title: str) -> None:
        """List the hits of a search, or all guides if there are none."""
        self._hits = hits
        found = [line((f"{hit.topic}: ", "dim"), hit.title, cut=True) for hit in hits]
        lines = found or [line(name, cut=True) for name in TOPICS]
        self.rows.border_title = title
        self.rows.show(Table(len(lines), lines.__getitem__), cursor=0)
        self.rows.focus()
        self.status(
            f"{title} · {self.key('app.find')} searches all guides · "
            f"{self.key('list.choose')} reads · Escape goes back"
        )
        self._show_row(0)

    @on(RowList.Moved)
    def _look(self, event: RowList.Moved) -> None:
        self._show_row(event.index)

    def _show_row(self, index: int) -> None:
        if index < len(self._hits):
            hit = self._hits[index]
            self._show(hit.topic, sections(hit.topic).index(hit))
        elif not self._hits:
            self._show(TOPICS[index], 0)

    @work(exclusive=True, group="text")
    async def _show(self, topic: str, start: int) -> None:
        """Show a guide, from one of its parts on; each is painted before the next is laid out."""
        self._topic = topic
        text = self.query_one(Markdown)
        await text.update("")  # what `update` itself put there, `append` would take for unfinished
        self.query_one(_GuideText).scroll_home(animate=False)
        for part in sections(topic)[start:]:
            await text.append(part.markdown)
            await asyncio.sleep(_PAINT_SECONDS)

    @on(RowList.Chosen)
    def action_read(self) -> None:
        """Focus the text."""
        self.query_one(_GuideText).focus()

    @on(Markdown.LinkClicked)
    def _follow(self, event: Markdown.LinkClicked) -> None:
        """Follow a link to a guide."""
        file, _, anchor = event.href.partition("#")
        topic = file.removesuffix(".md") or self._topic
        if topic not in TOPICS:
            tell(self, event.href)
        elif topic != self._topic or not self.query_one(Markdown).goto_anchor(anchor):
            anchors = [part.anchor for part in sections(topic)]
            self._show(topic, anchors.index(anchor) if anchor in anchors else 0)

    def action_find(self) -> None:
        """Ask for words, and list the sections of all guides that contain them."""
        self._search()

    @work(group=DIALOG)
    async def _search(self) -> None:
        words = await self.ask("Search all guides for")
        if not words:
            return
        found = await asyncio.to_thread(search, words)
        if found:
            self._list(found, f"{plural(len(found), 'hit')} for {words}")
        else:
            tell(self, "not found")

    def _back_out(self) -> None:
        """Escape: go from the hits to all guides, else leave."""
        if self._hits:
            self._list((), "Guides")
        else:
            self.leave()
