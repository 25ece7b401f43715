"""The notes of a record: the dialog that writes one on a step, and the screen that lists all.

The list has a row for each note; below it is the marked one in full.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label

from ...errors import RecordError
from ...files.regular_file import Watch
from ...record.feedback import VERDICTS, Feedback, read
from ...record.store import RecordFile
from ...session.session import Session
from ...text import one_line, plural
from ..clock import Clock
from ..toasts import tell
from ..widgets.columns import Cell, Grid, Heads, Layout, cells_line, layout, widest
from ..widgets.documents import Line, Paragraphs, Table, line
from ..widgets.editors import TextBox
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from ..widgets.text_fields import Answered
from .base import DIALOG, QuizlogScreen
from .dialogs import DIALOG_STYLE, switch_dialog

_NO_VERDICT = "none"
"""The filter for notes without a verdict."""
_MARKS = {"right": "✓", "wrong": "✗", "unsure": "?"}
_STYLES = {"right": "good", "wrong": "error", "unsure": "warn"}


def _verdict_words(verdict: str | None) -> str:
    """Mark and word of a verdict; an unknown verdict as it is."""
    if verdict is None:
        return ""
    return f"{_MARKS[verdict]} {verdict}" if verdict in _MARKS else verdict


def verdict_line(verdict: str | None) -> Line:
    """A verdict to choose."""
    return line((_verdict_words(verdict) or "– none", _STYLES.get(verdict or "", "")), cut=True)


def verdicts_in(notes: Iterable[Feedback]) -> list[str]:
    """The verdicts in use: known ones first, `none` last."""
    there = {said.verdict or _NO_VERDICT for said in notes}
    order = [*VERDICTS, *sorted(there - {*VERDICTS, _NO_VERDICT}), _NO_VERDICT]
    return [verdict for verdict in order if verdict in there]


def authors_in(notes: Iterable[Feedback]) -> list[str]:
    """The authors by name; an empty name stands for notes without an author."""
    return sorted({said.author or "" for said in notes})


def _by_step(notes: Iterable[Feedback]) -> list[Feedback]:
    """The notes in the order of their steps; notes about no step come last."""
    return sorted(notes, key=lambda said: (said.at is None, said.at or 0))


def filtered_notes(
    notes: Iterable[Feedback], *, verdict: str | None = None, author: str | None = None
) -> list[Feedback]:
    """The notes with a verdict and by an author; None means any."""
    return [
        said
        for said in notes
        if verdict in (None, said.verdict or _NO_VERDICT) and author in (None, said.author or "")
    ]


def note_grid(notes: Sequence[Feedback], clock: Clock) -> Grid:
    """A row for each note, with the columns that fit."""
    columns = {
        "step": 4,
        "verdict": 9,
        "text": max(20, widest(said.text for said in notes)),
        "author": max(6, min(16, widest(said.author for said in notes))),
        "branch": max(6, min(20, widest(said.branch for said in notes))),
        "when": 10,
    }
    least = {"text": 20, "author": 6, "branch": 6, "when": 10}

    def make(index: int, shown: Layout) -> Line:
        return cells_line(shown, _cells(notes[index], clock))

    def text(index: int) -> str:
        said = notes[index]
        words = (said.text, said.author, said.verdict, said.branch)
        return " ".join(word for word in words if word)

    return Grid(len(notes), lambda width: layout(width, columns, least), make, text)


def _cells(said: Feedback, clock: Clock) -> dict[str, Cell]:
    return {
        "step": "" if said.at is None else f"{said.at:4}",
        "verdict": (_verdict_words(said.verdict), _STYLES.get(said.verdict or "", "")),
        "text": said.text,
        "author": (said.author or "", "answer"),
        "branch": (said.branch or "", "dim"),
        "when": (clock.describe(said.time), "dim"),
    }


def note_lines(said: Feedback, clock: Clock) -> list[Line]:
    """A note in full."""
    place = "on the whole record" if said.at is None else f"step {said.at}"
    branch = f" of {said.branch}" if said.branch else ""
    who = f" · {said.author}" if said.author else ""
    when = f" · {clock.describe(said.time)}" if said.time else ""
    verdict = f"{_verdict_words(said.verdict)} · " if said.verdict else ""
    lines = [
        line((verdict, _STYLES.get(said.verdict or "", "")), (f"{place}{branch}{who}{when}", "dim"))
    ]
    if said.text:
        lines.append(line(said.text))
    lines += [line((f"{key}: {value}", "dim")) for key, value in said.extras.items()]
    return lines


def no_notes_lines(count: int, key: str) -> list[Line]:
    """The text shown if there is no note to show; `key` writes one, empty if none can be."""
    if count:
        return [line((f"None of the {count} notes matches.", "head"))]
    how = [line(""), line((key, "answer"), " in the player writes a note on the step shown.")]
    return [line(("No notes yet.", "head")), *(how if key else ())]


_FOLLOW_SECONDS = 0.5


class _NotesPlace(NamedTuple):
    """Where to go from the list."""

    step: int
    branch: str | None
    """The branch to switch to first; None if the active one has the step."""


class NotesScreen(QuizlogScreen[_NotesPlace | None]):
    """Lists the notes of a record; dismisses with where to go, or None."""

    SCOPE = "notes"
    DEFAULT_CSS = """
    NotesScreen {
        & #notes { height: 2fr; }
        & #note { height: 1fr; min-height: 5; }
    }
    """

    def __init__(self, session: Session, clock: Clock) -> None:
        super().__init__()
        self.session = session
        self._clock = clock
        self._verdict: str | None = None
        self._author: str | None = None
        self._every = session.feedback
        self._watch = Watch(session.path)
        self._shown: list[Feedback] = []

    def content(self) -> ComposeResult:
        """The list, and the selected note in full."""
        yield Heads(id="heads")
        yield RowList(id="notes")
        yield LineView(id="note")

    def on_mount(self) -> None:
        """Select the latest note."""
        self.query_one("#note").border_title = "Note"
        self.draw()
        self.rows.move(self._shown.index(self._every[-1]) if self._every else 0)
        self.rows.focus()
        self.set_interval(_FOLLOW_SECONDS, self._look_for_changes)

    def draw(self) -> None:
        """Draw the filtered notes."""
        found = filtered_notes(self._every, verdict=self._verdict, author=self._author)
        self._shown = _by_step(found)
        self.show_rows(note_grid(self._shown, self._clock))
        self._draw_note()
        self.status(self._status_text())

    def _status_text(self) -> str:
        words = [plural(len(self._every), "note")]
        if len(self._shown) != len(self._every):
            words[0] = f"{len(self._shown)} of {words[0]}"
        if self._verdict is not None:
            words.append(f"verdict {self._verdict}")
        if self._author is not None:
            words.append(f"by {self._author or 'nobody named'}")
        return " · ".join([*words, self.session.path.name])

    @on(RowList.Moved)
    def _draw_note(self) -> None:
        if self.marked is None:
            lines = no_notes_lines(len(self._every), self.key("player.note"))
        else:
            lines = note_lines(self.marked, self._clock)
        self.query_one("#note", LineView).show(Paragraphs(lines))

    @property
    def marked(self) -> Feedback | None:
        """The selected note."""
        index = self.rows.index
        return None if index is None else self._shown[index]

    # -- following

    def _look_for_changes(self) -> None:
        if self.is_active and self._watch.touched():
            self._read_again()

    @work(exclusive=True, group="follow")
    async def _read_again(self) -> None:
        """Show the notes of the file; the player takes over other changes itself."""
        with suppress(RecordError):  # in the middle of an edit, say
            record = await asyncio.to_thread(RecordFile(self.session.path).read)
            self._every = read(record)
            self.draw()

    # -- keys

    def action_verdict(self) -> None:
        """Filter by the next verdict; after the last one, show all."""
        self._verdict = _next(verdicts_in(self._every), self._verdict)
        self.draw()

    def action_author(self) -> None:
        """Filter by the next author; after the last one, show all."""
        self._author = _next(authors_in(self._every), self._author)
        self.draw()

    @on(RowList.Chosen)
    @work(group=DIALOG)
    async def action_go(self) -> None:
        """Go to the step of the selected note; ask before switching to another branch."""
        said = self.marked
        if said is None or said.at is None:
            tell(self, "this note is not about a step" if said else "there is nothing to go to")
            return
        branch = said.branch and self.session.branch_with(said.branch, said.at)
        if branch is not None:
            ask = switch_dialog(said.at, branch)
            if await self.app.push_screen_wait(ask) != 0:
                return
        self.dismiss(_NotesPlace(said.at, branch))


def _next(values: list[str], present: str | None) -> str | None:
    """The next filter value; None (all) after the last one."""
    cycle = [None, *values]
    at = cycle.index(present) if present in cycle else 0
    return cycle[(at + 1) % len(cycle)]


_CHOICES: tuple[str | None, ...] = (None, *VERDICTS)


@dataclass(frozen=True)
class Remark:
    """A note on a step."""

    verdict: str | None = None
    text: str = ""
    sent: bool = False
    """Whether to write it; otherwise it is a draft, possibly empty."""

    @property
    def empty(self) -> bool:
        """Whether there is neither text nor verdict."""
        return not (self.verdict or self.text.strip())


class RemarkScreen(ModalScreen[Remark]):
    """Dismisses with a note on a step, or with its draft if the user goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("ctrl+s,f5", "send", "Write", priority=True),
    ]
    DEFAULT_CSS = f"""
    RemarkScreen {{ {DIALOG_STYLE}
        & > Vertical {{ max-width: 80; max-height: 90%; }}
        & #verdicts {{ height: 4; border: none; }}
        & #verdicts:focus {{ border: none; background: $panel; }}
    }}
    """

    def __init__(self, about: str, draft: Remark) -> None:
        super().__init__()
        self._about = about
        self._draft = draft

    def compose(self) -> ComposeResult:
        """The text first, then the verdicts."""
        with Vertical():
            yield Label(one_line(self._about), markup=False)
            yield TextBox()
            yield Label("Verdict (Tab, then up and down; Enter saves)", markup=False)
            yield RowList(id="verdicts")

    async def on_mount(self) -> None:
        """Type at once."""
        self.query_one("#verdicts", RowList).show(
            Table(len(_CHOICES), lambda index: verdict_line(_CHOICES[index])),
            cursor=_CHOICES.index(self._draft.verdict),
        )
        await self.query_one(TextBox).fill(self._draft.text)
        self.query_one(TextBox).begin()

    @property
    def _verdict(self) -> str | None:
        return _CHOICES[self.query_one("#verdicts", RowList).index or 0]

    def action_back(self) -> None:
        """Go back and keep the text as a draft."""
        self.dismiss(Remark(self._verdict, self.query_one(TextBox).draft))

    def action_send(self) -> None:
        """Send text and verdict."""
        self.query_one(TextBox).action_send()

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Send when a verdict is chosen with Enter."""
        event.stop()
        self.action_send()

    def on_answered(self, event: Answered) -> None:
        """Send when the text is submitted."""
        event.stop()
        said = Remark(self._verdict, event.answer.strip(), sent=True)
        if not said.empty:
            self.dismiss(said)
        else:
            self.notify("write something, or choose a verdict", markup=False)
