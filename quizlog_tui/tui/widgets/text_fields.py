r"""The fields that take text: the plain line of an answer, the search line, and an area of lines.

Pasted text goes into the one with the focus, once. They keep every character, and draw none that
steers a terminal. Textual's own draw control characters as they are, and take more than `\n` for
the end of a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from rich.text import Text
from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.document._document import Document, EditResult, Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widget import Widget
from textual.widgets import Input, TextArea

from ...text import visible
from ..keys.typed_keys import KeyGate
from ..toasts import warn


class LineField(Input):
    """A line of text."""

    virtual_size = Reactive(Size(0, 0))
    """How far it scrolls; that of `Input` lays out the whole screen for each character typed."""

    @property
    def _value(self) -> Text:
        shown = stand_ins(self.value).replace("\n", "⏎").replace("\t", " ")
        return Text(shown, no_wrap=True, overflow="ignore", end="")

    def action_paste(self) -> None:
        """Insert what was cut or copied here, as if it were pasted by the terminal."""
        _paste_again(self.app)


class AreaField(TextArea):
    """Lines of text."""

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn."""
        return Text(stand_ins(self.document.get_line(line_index)), end="", no_wrap=True)

    def action_paste(self) -> None:
        """Insert what was cut or copied here, as if it were pasted by the terminal."""
        _paste_again(self.app)

    def _set_document(self, text: str, language: str | None) -> None:
        """Take a text; no language is ever set."""
        self.document = _ExactDocument(text)
        self.wrapped_document = WrappedDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()

    def _on_resize(self) -> None:
        """Wrap anew, and keep the cursor in sight."""
        super()._on_resize()
        self.scroll_cursor_visible()


class TextLine(LineField):
    """An input in which up and down step through suggestions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "suggest(1)", show=False),
        Binding("up", "suggest(-1)", show=False),
    ]
    DEFAULT_CSS = """
    TextLine { border: none; height: 1; padding: 0; background: $surface; }
    TextLine:focus { border: none; background: $panel; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, select_on_focus=False)
        self.cursor_blink = False
        self.suggestions: Sequence[str] = ()
        """Answers to step through."""

    def fill(self, answer: str) -> None:
        """Insert a text, ready to edit or send."""
        self.value = answer
        self.cursor_position = len(answer)

    def action_suggest(self, by: int) -> None:
        """Insert the next or previous suggestion; after the last one, an empty line."""
        ring = ["", *filter(None, self.suggestions)]
        at = ring.index(self.value) if self.value in ring else 0
        self.fill(ring[(at + by) % len(ring)])

    async def action_submit(self) -> None:
        """Send the answer and clear the line before the next key is processed."""
        answer = self.value
        self.clear()
        send(self, answer)


class SearchBar(LineField):
    """A search line, hidden until it is opened; it searches while the user types."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]
    DEFAULT_CSS = """
    SearchBar { dock: bottom; height: 1; border: none; padding: 0 1; display: none;
        background: $panel; margin-bottom: 1; }
    SearchBar:focus { border: none; }
    SearchBar.-open { display: block; }
    """

    @dataclass
    class Finding(Message):
        """The words have changed."""

        words: str

    @dataclass
    class Closed(Message):
        """The search line was closed: kept with Enter, or cancelled."""

        keep: bool

    def __init__(self) -> None:
        super().__init__(placeholder="find; Enter keeps the hits for n N &; Escape cancels")
        self.cursor_blink = False

    def open(self) -> None:
        """Open the line."""
        self.add_class("-open")
        self.clear()
        self.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search while the user types."""
        event.stop()
        if self.has_class("-open"):
            self.post_message(self.Finding(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the hits."""
        event.stop()
        self._close(keep=bool(event.value))

    def action_close(self) -> None:
        """Cancel the search."""
        self._close(keep=False)

    def _close(self, *, keep: bool) -> None:
        self.remove_class("-open")
        self.post_message(self.Closed(keep))


@dataclass
class Answered(Message):
    """The user gave an answer."""

    answer: str


def send(editor: Widget, answer: str) -> None:
    """Send an answer; keys typed from now on are meant for the next question."""
    gate = getattr(editor.screen, "gate", None)
    if isinstance(gate, KeyGate):
        gate.shut()
    editor.post_message(Answered(answer))


def stand_ins(text: str) -> str:
    """A text in which each character that could steer a terminal is one that is seen."""
    return text if visible(text) == text else "".join(map(_stand_in, text))


def _stand_in(character: str) -> str:
    shown = visible(character)
    return shown if len(shown) == 1 else "\ufffd"


def _paste_again(app: App[object]) -> None:
    app.post_message(events.Paste(app.clipboard))


@runtime_checkable
class _TakesLines(Protocol):
    """What takes several lines that were pasted into one of its fields."""

    async def take_lines(self, lines: str) -> None:
        """Take the lines."""


async def take_paste(app: App[Any], event: events.Paste) -> None:
    """Insert pasted text into the field with the focus before the next key is processed."""
    text = re.sub("\r\n?", "\n", event.text)  # terminals send \r for the end of a line
    focused = app.focused
    if isinstance(focused, TextArea):
        event = events.Paste(text)
        event.stop()  # it would come here again
        await focused.on_event(event)
    elif isinstance(focused, Input):
        await _paste_into_line(app, focused, text)
    elif text:
        warn(app, "nothing here takes the pasted text; go to a field first")


async def _paste_into_line(app: App[Any], field: Input, text: str) -> None:
    """Insert text into a line; several lines go where they can, or it is told what is left out."""
    first, *more = text.removesuffix("\n").split("\n")
    taker = next((node for node in field.ancestors if isinstance(node, _TakesLines)), None)
    if more and taker is not None:
        await taker.take_lines(text)
        return
    if more:
        warn(app, f"only the first of {len(more) + 1} pasted lines is put in: this is one line")
    start, end = sorted(field.selection)
    field.replace(first if isinstance(field, LineField) else visible(first), start, end)


class _ExactDocument(Document):
    r"""Lines that end at `\n` only, so that the text is what was put in."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._newline = "\n"
        self._lines = text.split("\n")

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace a range; the new end of it, and what was there."""
        (top, left), (bottom, right) = sorted((start, end))
        replaced = self.get_text_range((top, left), (bottom, right))
        before = "".join(self._lines[top : top + 1])[:left]
        after = "".join(self._lines[bottom : bottom + 1])[right:]
        fresh = text.split("\n")
        fresh[0] = before + fresh[0]
        column = len(fresh[-1])
        fresh[-1] += after
        self._lines[top : bottom + 1] = fresh
        return EditResult((top + len(fresh) - 1, column), replaced)
